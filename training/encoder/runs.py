"""The runs: the whole model in rounds, and one short run a fold whose held-out scores set the thresholds."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .apart import aside, left_out
from .base import new_encoder
from .batches import Plan, chosen
from .dataset import Dataset, load
from .linear import linear_scores
from .loop import Budget, train, train_once
from .model import Encoder, Settings
from .negatives import mine
from .relatives import FOLDS
from .report import print_summary, summary
from .rows import Row
from .scoring import score
from .ship import load_encoder
from .unseen import unseen

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
    if with_linear:
        learnt, _ = chosen(data, plan, 0)
        kept['linear'] = linear_scores(
            [data.rows[int(i)] for i in learnt],
            [data.rows[int(i)] for i in held],
            options.work,
            options.seed,
        )
    np.savez(out, **kept)


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
    if all('known' in part for part in found):
        told['unseen'] = unseen(data, found)
        print(json.dumps(told['unseen'], indent=1))
    (options.work / 'held-out.json').write_text(json.dumps(told, indent=1))
    return told


def quick(options: Options) -> Options:
    """Small enough to see everything run in a quarter of an hour."""
    return replace(options, most=300, fold_most=150, held_most=150, epochs=1, mined=2000, windows=3)
