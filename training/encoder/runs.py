"""The runs: the whole model in rounds, and one short run a fold whose held-out scores set the thresholds."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from . import calibration
from .apart import aside, aside_rows, beside_guards, left_out
from .base import new_encoder
from .batches import Plan, chosen
from .dataset import Dataset, dataset, load
from .guard_told import pairs_told
from .lanes import LANE
from .linear import linear_scores
from .loop import Budget, train, train_once
from .metrics import wilson
from .model import Encoder, Settings
from .negatives import mine
from .relatives import FOLDS
from .report import print_summary, summary
from .rows import Row
from .scoring import score
from .ship import load_encoder

# Of a text the first reader is told what the encoder says of so many characters.
TAUGHT = 1600
# The roles that harmless held-out rows are scored in again.
AGAIN = ('tool', 'assistant')


@dataclass(frozen=True)
class Options:
    """What a person may want to change.

    `most`: rows of a source in an epoch; `minutes`: by the clock, 0 for no bound; `budget`: pieces of a batch;
    `without`: a fold whose harmless sources the model that ships leaves out, so that thresholds come from its own
    scores (-1: none); `start`: a folder with an exported encoder to go on from;
    `whole`: sources, by the beginnings of their names, of which every row is in.
    """

    work: Path
    seed: int = 1
    most: int = 4000
    epochs: int = 3
    minutes: float = 0
    length: int = 96
    settings: Settings = Settings()
    fold_most: int = 600
    held_most: int = 500
    windows: int = 6
    mined: int = 30_000
    rate: float = 2e-4
    budget: int = 6144
    without: int = -1
    start: Path | None = None
    whole: tuple[str, ...] = ()


def full(options: Options) -> Encoder:
    """The model that is shipped: one epoch a round, with what the round before got wrong.

    The checkpoint of each round stays in the work folder; a run that was cut off goes on from it.
    """
    data = load(options.work)
    model, _ = new_encoder(options.work, options.settings, options.seed, options.start)
    rows = np.flatnonzero(~aside(data) & ~left_out(data, options.without))
    plan = Plan(rows, options.seed, options.most, options.length, options.budget, whole=options.whole)
    if options.start is not None:
        # What it gets wrong now counts from the first round on.
        plan = mine(model, data, plan, options.mined, options.seed, options.length)
    told: list[dict[str, float]] = []
    for number in range(options.epochs):
        # Each round warms up and cools down by itself, the later ones at a lower rate.
        budget = Budget(1, options.minutes / options.epochs, options.rate * (1, 0.6, 0.4)[min(number, 2)])
        print(f'round {number + 1} of {options.epochs}', flush=True)
        told.append(train_once(model, data, plan, budget, options.work, number, options.seed + number))
        if number + 1 < options.epochs and not (options.work / f'round-{number + 1}.json').exists():
            plan = mine(model, data, plan, options.mined, options.seed + number, options.length)
            print(
                f'{len(plan.hard)} harmless rows are hard, {len(plan.focus)} long harmful ones have a window',
                flush=True,
            )
    return model


def held_rows(data: Dataset, fold: int, options: Options) -> np.ndarray:
    """The rows of a fold that are scored: at most so many a source, the same for every model."""
    rows, _ = chosen(data, Plan(np.flatnonzero(data.fold == fold), 7, options.held_most), 0)
    return np.sort(rows)


def last_round(work: Path) -> Path:
    """The newest checkpoint.

    :raises FileNotFoundError: there is none
    """
    found = sorted(work.glob('round-*.pt'))
    if not found:
        raise FileNotFoundError(f'{work} holds no checkpoint: run "train" first')
    return found[-1]


def fold_run(options: Options, fold: int, with_linear: bool) -> None:
    """One epoch on the other folds; the scores of this fold's rows are kept in `held-N.npz`.

    Of the fold that the model that ships leaves out, that model's own scores are kept.
    """
    out = options.work / f'held-{fold}.npz'
    if out.exists():
        return
    data = load(options.work)
    ships = fold == options.without
    rows = np.flatnonzero((data.fold != fold) & ~aside(data))
    plan = Plan(rows, options.seed, options.fold_most, options.length, options.budget)
    if ships:
        model = load_encoder(options.work, last_round(options.work))[0]
    else:
        model, _ = new_encoder(options.work, options.settings, options.seed)
        budget = Budget(1, options.minutes / FOLDS, options.rate)
        train(model, data, plan, budget, options.work / f'fold-{fold}.pt', options.seed)
    held = held_rows(data, fold, options)
    if ships:
        held = held[left_out(data, fold)[held]]
    found = score(model, data, held, 128, options.windows)
    kept: dict[str, np.ndarray] = {'rows': held, 'encoder': found.logits}
    # What is harmless as a user's words has to pass as a tool's, and as an answer, too: all but a request that was laid
    # into a document, which from a user is a question and from a tool an attack.
    harmless = np.array(
        [
            i
            for i in held
            if data.rows[int(i)].benign
            and data.rows[int(i)].role == 'user'
            and not data.rows[int(i)].source.startswith('composed:pasted')
        ]
    )
    kept['again'] = harmless
    for role in AGAIN:
        kept[f'encoder_{role}'] = score(model, data, harmless, 128, options.windows, role=role).logits
    # Of a model that ships there is nothing to carry over.
    known = np.array([i for i in aside_rows(data) if data.fold[int(i)] != fold and not ships], np.int64)
    kept['aside'] = known
    for role in ('user', *AGAIN) if len(known) > 0 else ():
        kept[f'aside_{role}'] = score(model, data, known, 128, options.windows, role=role).logits
    if with_linear:
        learnt, _ = chosen(data, plan, 0)
        kept['linear'] = linear_scores(
            [data.rows[int(i)] for i in learnt],
            [data.rows[int(i)] for i in held],
            options.work,
            options.seed,
        )
    np.savez(out, **kept)


def calibrate(options: Options, checkpoint: Path) -> dict[str, object]:
    """The confidences of the model that ships, in `calibration.json`: curves of the folds, carried over."""
    data = load(options.work)
    found = [np.load(file) for file in sorted(options.work.glob('held-*.npz'))]
    if not found:
        raise FileNotFoundError(f'{options.work} holds no scores of a fold: run "folds" first')
    rows, pieces, logits = _pooled(data, found, 'encoder')
    knots = calibration.calibrate(rows, pieces, logits)
    model, _ = load_encoder(options.work, checkpoint)
    known = np.unique(np.concatenate([part['aside'] for part in found]))
    place = {int(i): at for at, i in enumerate(known)}
    lines: dict[str, dict[str, tuple[float, float]]] = {}
    for role, groups in calibration.GROUPS.items():
        if len(known) == 0:
            lines[role] = {lane: (1.0, 0.0) for lane, _ in groups.values()}
            continue
        shipped = score(model, data, known, 128, options.windows, role=role).logits
        of_folds = np.concatenate([part[f'aside_{role}'] for part in found])
        own = shipped[[place[int(i)] for part in found for i in part['aside']]]
        lines[role] = {
            lane: calibration.carry(of_folds[:, LANE[lane]], own[:, LANE[lane]]) for lane, _ in groups.values()
        }
    pairs = pairs_told(model, data, options.windows)
    told = {
        **calibration.manifest({**calibration.carried(knots, lines), 'guarded': pairs.pop('knots')}),
        **pairs,
        'carried': lines,
        'aside_rows': len(known),
        'by_source': by_source(rows, calibration.confidences(knots, rows, pieces, logits)),
    }
    (options.work / 'calibration.json').write_text(json.dumps(told, indent=1))
    return told


def recalibrate(options: Options, checkpoint: Path) -> dict[str, object]:
    """The confidences of a model that went on from an exported one (`start`), in `calibration.json`.

    The exported one's knots were measured on sources that it had not seen. They are carried over by rows that neither of
    the two learnt from.
    """
    assert options.start is not None
    data = load(options.work)
    shipped = json.loads((options.start / 'encoder.json').read_text())['calibration']
    shipped.pop('guarded', None)
    known = aside_rows(data, min(100, options.held_most))
    old, _ = new_encoder(options.work, options.settings, options.seed, options.start)
    new, _ = load_encoder(options.work, checkpoint)
    lines, _ = carry_lines(old, new, data, known, tuple(calibration.GROUPS), options.windows)
    pairs = pairs_told(new, data, options.windows)
    told = {
        **calibration.manifest(
            {**calibration.sound(calibration.carried(shipped, lines)), 'guarded': pairs.pop('knots')}
        ),
        **pairs,
        'carried': lines,
        'aside_rows': len(known),
        'by_source': [],
    }
    (options.work / 'calibration.json').write_text(json.dumps(told, indent=1))
    return told


def carry_lines(
    old: Encoder, new: Encoder, data: Dataset, known: np.ndarray, roles: tuple[str, ...], windows: int
) -> tuple[dict[str, dict[str, tuple[float, float]]], dict[str, float]]:
    """What takes the logits of one model to those of another.

    :param known: rows that neither learnt from
    :returns: by role and lane, slope and offset; by role, how far a logit moved on the mean
    """
    lines: dict[str, dict[str, tuple[float, float]]] = {}
    moved: dict[str, float] = {}
    for role in roles:
        was, is_now = (score(m, data, known, 128, windows, role=role).logits for m in (old, new))
        moved[role] = float(np.abs(is_now - was).mean())
        lines[role] = {
            lane: calibration.carry(was[:, LANE[lane]], is_now[:, LANE[lane]])
            for lane, _ in calibration.GROUPS[role].values()
        }
    return lines, moved


def mix(one: Path, other: Path, share: float, out: Path) -> None:
    """Weights between two checkpoints of one model, of which the second went on from the first (WiSE-FT, arXiv 2109.01903).

    A round on a few sources learns these and forgets a little of all others; a mean of before and after keeps most of both.

    :param share: of the second, 0 to 1
    """
    first, second = (torch.load(file, weights_only=False) for file in (one, other))
    mixed = {
        name: (1 - share) * first['model'][name] + share * value if value.is_floating_point() else value
        for name, value in second['model'].items()
    }
    torch.save({'model': mixed, 'settings': second['settings'], 'told': second['told']}, out)


def teach(
    options: Options, checkpoint: Path, out: Path, most: int, roles: tuple[str, ...] = ('user', 'tool', 'assistant')
) -> None:
    """What the encoder says of every text at hand, for the first reader to learn from: JSON lines in `out`.

    A line is `{text, source, kind, role, harmless, says}`: `says` is the highest confidence (0 to 1) of anything that may
    stop such words. What a user may paste, a tool may bring: documents are there in both roles.

    :param most: rows of a source
    :param roles: whose words are read
    """
    whole = load(options.work)
    which = np.sort(chosen(whole, Plan(np.flatnonzero(~beside_guards(whole)), 13, most), 0)[0])
    cut = [replace(whole.rows[int(i)], text=whole.rows[int(i)].text[:TAUGHT]) for i in which]
    data = dataset(Tokenizer.from_file(str(options.work / 'tokenizer.json')), cut, {})
    knots = json.loads((options.work / 'calibration.json').read_text())['knots']
    model, _ = load_encoder(options.work, checkpoint)
    random = np.random.default_rng((options.seed, 99))
    with out.open('w') as file:
        for role in roles:
            spoken = np.array([i for i, row in enumerate(cut) if _may_say(row, role, random)])
            for at in range(0, len(spoken), 20_000):
                part = spoken[at : at + 20_000]
                rows = [replace(cut[int(i)], role=role) for i in part]
                pieces = np.array([len(data.pieces(int(i))) for i in part])
                told = calibration.confidences(knots, rows, pieces, score(model, data, part, 128, 8, role=role).logits)
                for row, says in zip(rows, told, strict=True):
                    line = {'text': row.text, 'source': row.source, 'kind': row.kind, 'role': role, 'harmless': row.benign}
                    file.write(json.dumps({**line, 'says': round(float(says), 3)}, ensure_ascii=False) + '\n')
                print(f'{role}: {at + len(part)} of {len(spoken)} texts', flush=True)


def _may_say(row: Row, role: str, random: np.random.Generator) -> bool:
    if role == 'user':
        return row.role in ('user', 'system')
    if role == 'tool':
        return row.role == 'tool' or row.kind in ('document', 'conversation') or random.random() < 0.1
    return row.role == 'assistant'


def _pooled(data: Dataset, found: list[Any], reader: str) -> tuple[list[Row], np.ndarray, np.ndarray]:
    """The held-out rows of all folds, those that were told in another role once more; their pieces and logits."""
    which = np.concatenate([part['rows'] for part in found])
    again = np.concatenate([part['again'] for part in found])
    rows = [data.rows[int(i)] for i in which]
    numbers, parts = [which], [part[reader] for part in found]
    # The linear reader is not told who speaks: its scores of harmless texts hold for every role.
    place = {int(i): at for at, i in enumerate(which)}
    first = np.concatenate(parts)
    for role in AGAIN:
        rows += [replace(data.rows[int(i)], role=role) for i in again]
        numbers.append(again)
        own = f'{reader}_{role}'
        if own in found[0]:
            parts += [part[own] for part in found]
        else:
            parts.append(first[[place[int(i)] for i in again]])
    pieces = np.array([len(data.pieces(int(i))) for i in np.concatenate(numbers)])
    return rows, pieces, np.concatenate(parts)


def by_source(rows: list[Row], told: np.ndarray) -> list[dict[str, object]]:
    """By source, role, length and whether harmful: the shares that are shown, stopped and forbidden."""
    members: dict[tuple[str, str, bool], list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        if row.harmful or row.benign:
            members[row.source, row.role, row.harmful].append(i)
    table: list[dict[str, object]] = []
    for (source, role, harmful), which in sorted(
        members.items(), key=lambda item: (item[0][2], item[0][1], item[0][0])
    ):
        line: dict[str, object] = {'source': source, 'role': role, 'harmful': harmful, 'rows': len(which)}
        for name, least in (('shown', 0.25), ('stopped', 0.4), ('forbidden', 0.75)):
            hits = int((told[which] >= least).sum())
            line[name] = round(hits / len(which), 4)
            line[f'{name}_95'] = [round(x, 4) for x in wilson(hits, len(which))]
        table.append(line)
    return table


def report(options: Options) -> dict[str, object]:
    """The pooled held-out scores of the folds that have run, as tables and thresholds, in `held-out.json`."""
    data = load(options.work)
    found = [np.load(file) for file in sorted(options.work.glob('held-*.npz'))]
    if not found:
        raise FileNotFoundError(f'{options.work} holds no scores of a fold: run "folds" first')
    told: dict[str, object] = {'folds': len(found), 'rows': sum(len(part['rows']) for part in found)}
    for reader in ('encoder', 'linear'):
        if all(reader in part for part in found):
            print(f'--- {reader}, {len(found)} of {FOLDS} folds')
            rows, pieces, logits = _pooled(data, found, reader)
            tables = summary(rows, pieces, logits)
            print_summary(tables)
            told[reader] = tables
    (options.work / 'held-out.json').write_text(json.dumps(told, indent=1))
    return told


def quick(options: Options) -> Options:
    """Small enough to see everything run in a quarter of an hour."""
    return replace(options, most=300, fold_most=150, held_most=150, epochs=1, mined=2000, windows=3)
