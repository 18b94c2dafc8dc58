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

from .apart import aside, left_out
from .base import new_encoder
from .batches import Plan, chosen
from .composed import kept_back
from .dataset import Dataset, load
from .loop import Budget, train_once
from .runs import Options

# What people ask, told by a tool, is a list of tickets, or somebody's search: harmless, and rare.
PROMPTS = 150
# Windows as long as those that are read when it serves.
LENGTH = 128
WINDOWS = 10
# Of a text the first reader is told so many characters.
TOLD = 1600
KINDS = ('document', 'conversation', 'comment')


def learn(options: Options) -> dict[str, float]:
    """Trains for `options.minutes`; leaves `round-0.pt`.

    :raises ValueError: no weights to start from were named
    """
    if options.start is None:
        raise ValueError('--start is needed: the folder with the weights that are to learn it')
    data = spoken_by_tools(load(options.work), options.seed)
    model, _ = new_encoder(options.work, replace(options.settings, branches=('tools',)), options.seed, options.start)
    # The lower layers know words, whoever says them.
    model.requires_grad_(False)
    model.branches['tools'].requires_grad_(True)
    back = np.array([kept_back(row) for row in data.rows])
    free = ~aside(data) & ~back & ~left_out(data, options.without)
    plan = Plan(np.flatnonzero(free), options.seed, options.most, LENGTH, options.budget, 0, options.whole)
    return train_once(model, data, plan, Budget(1, options.minutes, options.rate), options.work, seed=options.seed)


def spoken_by_tools_rows(data: Dataset, seed: int) -> list[int]:
    """Which rows tools may bring: their own, harmless documents, and few prompts of each source."""
    random = np.random.default_rng((seed, 55))
    prompts = [
        i for i, row in enumerate(data.rows) if row.benign and row.kind == 'prompt' and row.role == 'user' and not row.guard
    ]
    few, _ = chosen(data, Plan(np.array(random.permutation(prompts)), seed, PROMPTS), 0)
    taken = set(few.tolist()) - {i for i in few if data.rows[int(i)].source.startswith('composed:')}
    return [
        i
        for i, row in enumerate(data.rows)
        if not row.guard and (row.role == 'tool' or i in taken or row.benign and row.role == 'user' and row.kind in KINDS)
    ]


def spoken_by_tools(data: Dataset, seed: int) -> Dataset:
    """What tools may bring, told as theirs (`spoken_by_tools_rows`)."""
    which = spoken_by_tools_rows(data, seed)
    spans = [data.pieces(i) for i in which]
    start = np.concatenate([[0], np.cumsum([len(span) for span in spans])]).astype(np.int64)
    none = np.zeros(len(which) + 1, np.int64)
    rows = [replace(data.rows[i], role='tool') for i in which]
    return Dataset(
        rows,
        np.concatenate(spans),
        start,
        data.value[which],
        data.weight[which],
        data.fold[which],
        data.guards[:0],
        none,
    )


def by_labels(options: Options, out: Path) -> None:
    """What the labels of the same rows say, for the first reader's lane: JSON lines as of `teach.teach`, without `says`.

    The encoder is not asked: what is an order is known of rows that were made, and asking takes longer than learning.
    """
    data = spoken_by_tools(load(options.work), options.seed)
    which, _ = chosen(data, Plan(np.flatnonzero(~aside(data)), 13, options.most, whole=options.whole), 0)
    with out.open('w') as file:
        for i in np.sort(which):
            row = data.rows[int(i)]
            is_order = row.labels.get('prompt_injection') == 1
            if is_order or row.benign:
                line = {'text': row.text[:TOLD], 'source': row.source, 'kind': row.kind, 'role': 'tool'}
                told = {'harmless': not is_order, **({'order': True} if is_order else {})}
                file.write(json.dumps({**line, **told}, ensure_ascii=False) + '\n')
