"""Teaches weights that ship what tools bring, and nothing else: layers of their own read it, and no other score moves.

Orders to agents are learnt here from documents with a request or an order laid into them, from what servers say of their
tools, and from honest twins of both. The layers below, which everybody's words go through, stay as they are. So does every
score of users, assistants and systems, to the bit, and their confidences with it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from . import calibration, runs
from .apart import aside, left_out
from .base import new_encoder
from .batches import Plan, chosen
from .composed import WRITTEN, kept_back
from .dataset import Dataset, load
from .lanes import LANE
from .loop import Budget, train_once
from .metrics import auroc
from .model import Encoder
from .relatives import made_here
from .rows import Row
from .runs import TAUGHT, Options
from .scoring import score

# What people ask, told by a tool, is a list of tickets, or somebody's search: harmless, and rare.
PROMPTS = 150
# Windows as long as those that are read when it serves.
LENGTH = 128
WINDOWS = 10
KINDS = ('document', 'conversation', 'comment')


def learn(options: Options) -> dict[str, object]:
    """Trains for `options.minutes` without fold `options.without`; leaves `round-0.pt` and `calibration.json`.

    :raises ValueError: no weights to start from were named, or no fold to set thresholds by
    """
    if options.start is None or options.without < 0:
        raise ValueError('--start and --without are needed: the weights that are to learn it, a fold that sets thresholds')
    data = spoken_by_tools(load(options.work), options.seed, options.without)
    model, _ = new_encoder(options.work, replace(options.settings, branches=('tools',)), options.seed, options.start)
    # The lower layers know words, whoever says them.
    model.requires_grad_(False)
    model.branches['tools'].requires_grad_(True)
    free = ~aside(data) & ~left_out(data, options.without)
    plan = Plan(np.flatnonzero(free), options.seed, options.most, LENGTH, options.budget, 0, options.whole)
    told = train_once(model, data, plan, Budget(1, options.minutes, options.rate), options.work, seed=options.seed)
    return {**told, **settle(options, data, model)}


def spoken_by_tools(data: Dataset, seed: int, fold: int) -> Dataset:
    """What tools may bring, told as theirs: their own rows, harmless documents, and few prompts of each source.

    :param fold: the one that sets thresholds; written rows that are kept back go into it, honest ones as a source of theirs
    """
    random = np.random.default_rng((seed, 55))
    prompts = [
        i for i, row in enumerate(data.rows) if row.benign and row.kind == 'prompt' and row.role == 'user' and not row.guard
    ]
    few, _ = chosen(data, Plan(np.array(random.permutation(prompts)), seed, PROMPTS), 0)
    taken = set(few.tolist()) - {i for i in few if data.rows[int(i)].source.startswith('composed:')}
    which = [
        i
        for i, row in enumerate(data.rows)
        if not row.guard and (row.role == 'tool' or i in taken or row.benign and row.role == 'user' and row.kind in KINDS)
    ]
    spans = [data.pieces(i) for i in which]
    start = np.concatenate([[0], np.cumsum([len(span) for span in spans])]).astype(np.int64)
    none = np.zeros(len(which) + 1, np.int64)
    rows = [replace(data.rows[i], role='tool') for i in which]
    folds = data.fold[which]
    for at, row in enumerate(rows):
        if kept_back(row):
            folds[at] = fold
            rows[at] = row if row.harmful else replace(row, source=f'{row.source}:honest')
    return Dataset(
        rows,
        np.concatenate(spans),
        start,
        data.value[which],
        data.weight[which],
        folds,
        data.guards[:0],
        none,
    )


def by_labels(options: Options, out: Path) -> None:
    """What the labels of the same rows say, for the first reader's lane: JSON lines as of `runs.teach`, without `says`.

    The encoder is not asked: what is an order is known of rows that were made, and asking takes longer than learning.
    """
    data = spoken_by_tools(load(options.work), options.seed, options.without)
    which, _ = chosen(data, Plan(np.flatnonzero(~aside(data)), 13, options.most, whole=options.whole), 0)
    with out.open('w') as file:
        for i in np.sort(which):
            row = data.rows[int(i)]
            is_order = row.labels.get('prompt_injection') == 1
            if is_order or row.benign:
                line = {'text': row.text[:TAUGHT], 'source': row.source, 'kind': row.kind, 'role': 'tool'}
                told = {'harmless': not is_order, **({'order': True} if is_order else {})}
                file.write(json.dumps({**line, **told}, ensure_ascii=False) + '\n')


def settle(options: Options, data: Dataset, model: Encoder) -> dict[str, object]:
    """The confidences of tools, from harmless sources that these layers never saw; those of all others as they shipped."""
    assert options.start is not None
    held = left_out(data, options.without) | aside(data) & (data.fold == options.without)
    harmful = (data.fold == options.without) & np.array([row.harmful and made_here(row.source) for row in data.rows])
    which, _ = chosen(data, Plan(np.flatnonzero(held | harmful), 7, options.held_most), 0)
    which = np.sort(which)
    rows = [data.rows[int(i)] for i in which]
    pieces = np.array([len(data.pieces(int(i))) for i in which])
    logits = score(model, data, which, LENGTH, WINDOWS).logits
    # A prompt by itself, as a tool's words, is whatever one takes it for: it is measured, and sets no threshold.
    sets = np.array([row.kind != 'prompt' for row in rows])
    knots = calibration.calibrate([row for row, is_set in zip(rows, sets, strict=True) if is_set], pieces[sets], logits[sets])
    twins = np.flatnonzero([row.source == f'{WRITTEN}:honest' for row in data.rows])
    said = score(model, data, twins, LENGTH, WINDOWS).logits[:, LANE['prompt_injection']]
    knots = {'tool': calibration.beside_twins(knots['tool'], said)}
    told = calibration.confidences(knots, rows, pieces, logits)
    table = by_source(rows, told, logits[:, LANE['prompt_injection']])
    shipped = json.loads((options.start / 'encoder.json').read_text())
    told_now = {
        # Whatever else was told of these weights is still true.
        **shipped['calibrated'],
        **calibration.manifest({**shipped['calibration'], 'tool': knots['tool']}),
        'by_source': table,
    }
    (options.work / 'calibration.json').write_text(json.dumps(told_now, indent=1))
    return {'knots': knots['tool'], 'by_source': table}


def by_source(rows: list[Row], told: np.ndarray, logits: np.ndarray) -> list[dict[str, object]]:
    """The table of `runs.by_source`, with the area under the curve of what is harmful against all harmless rows but prompts."""
    harmless = np.array([row.benign and row.kind != 'prompt' for row in rows])
    table = runs.by_source(rows, told)
    for line in table:
        if line['harmful']:
            own = np.array([row.source == line['source'] and row.harmful for row in rows])
            line['auroc'] = round(auroc(logits[own], logits[harmless]), 4)
    return table
