"""Teaches weights that ship what people ask of models, from written rows, and holds every other score where it is.

The upper layers and the head learn; the lower two, which other layers stand on too, stay as they are, and with them every
score of tools and of texts beside guards, to the bit. Of all other texts at hand the weights must go on saying what they said
when they shipped, whatever labels say ("learning without forgetting", Li and Hoiem, arXiv 1606.09282): rows that were written
one at a time are few, and a round on everything moved more than it taught.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from . import calibration
from .apart import aside, aside_rows, beside_guards
from .asked import ASKED
from .base import new_encoder
from .batches import Batch, Plan, chosen
from .dataset import Dataset, load
from .loop import Budget, train_once
from .model import Branch, Encoder, half
from .runs import Options, carry_lines, mix
from .scoring import score
from .thresholds import harmless_sources

LENGTH = 128
# How much a score that moves counts beside one that is wrong.
HOLD = 0.4
# How much of what was learnt is kept, against what was there before (WiSE-FT, arXiv 2109.01903).
SHARE = 0.5
# Whose confidences the layers that learn may move.
MOVED = ('user', 'assistant')
WINDOWS = 6
# Sources count nearly alike.
KNOWN = 60
# At most so many honest twins of a source are scored.
NEAR = 1500
# A written request is stopped at this confidence.
STOPPED = 0.4


def learn(options: Options) -> dict[str, object]:
    """Trains for `options.epochs` or `options.minutes`; leaves `round-0.pt` and `calibration.json` in the work folder.

    :raises ValueError: no weights to start from were named
    """
    if options.start is None:
        raise ValueError('--start is needed: the folder with the weights that are to learn it')
    data = load(options.work)
    model, _ = new_encoder(options.work, options.settings, options.seed, options.start)
    start = {name: value.clone() for name, value in model.state_dict().items()}
    before = model.branch().requires_grad_(False).eval()
    model.requires_grad_(False)
    for layer in model.layers[: model.shared]:
        layer.dropout = 0.0
    for part in (*model.layers[model.shared :], model.head):
        part.requires_grad_(True)
    asked = np.array([row.source in ASKED for row in data.rows])
    others = ~asked & ~beside_guards(data) & np.array([row.role != 'tool' for row in data.rows])
    free = (asked | others) & ~aside(data)
    # Of rows of which nothing is known the score is held.
    held = replace(data, value=np.where(asked[:, None], data.value, -1).astype(data.value.dtype))
    plan = Plan(np.flatnonzero(free), options.seed, options.most, LENGTH, options.budget, 0, ASKED)
    budget = Budget(options.epochs, options.minutes, options.rate)
    told = train_once(model, held, plan, budget, options.work, seed=options.seed, loss=holding(before))
    halfway(model, start, options.work)
    return {**told, **settle(options, data, model)}


def halfway(model: Encoder, start: dict[str, torch.Tensor], work: Path) -> None:
    """Takes the model half the way from `start` to what it learnt. `round-0.pt` holds that afterwards, `round-0-learnt.pt` the end of the way.

    All of the way other people's harmless texts score higher than the confidences bear, and what it learnt is hardly less at half.
    """
    checkpoint, learnt, before = work / 'round-0.pt', work / 'round-0-learnt.pt', work / 'start.pt'
    if not learnt.exists():
        torch.save({'model': start}, before)
        checkpoint.rename(learnt)
        mix(before, learnt, SHARE, checkpoint)
    model.load_state_dict(torch.load(checkpoint, weights_only=False)['model'])


def holding(before: Branch) -> Callable[[Encoder, Batch, torch.Tensor], torch.Tensor]:
    """The loss: what written rows say, and how far the scores of all others have moved from `before`."""

    def loss_of(model: Encoder, batch: Batch, positive: torch.Tensor) -> torch.Tensor:
        with half():
            now, was = model.beside(batch.ids, before)
        known = batch.value >= 0
        weight = batch.weight * torch.where(batch.value == 1, positive, torch.ones(())) * known
        wrong = F.binary_cross_entropy_with_logits(now, batch.value.clamp(min=0).float(), reduction='none')
        taught = (wrong * weight).sum() / weight.sum().clamp(min=1e-6)
        others = ~known.any(1)
        moved = (now - was)[others].pow(2).mean() if others.any() else torch.zeros(())
        return taught + HOLD * moved

    return loss_of


def settle(options: Options, data: Dataset, model: Encoder) -> dict[str, object]:
    """The confidences of users and assistants, carried over by rows that no run learns from, those of rare groups measured; those of all others as they shipped."""
    assert options.start is not None
    shipped = json.loads((options.start / 'encoder.json').read_text())
    old, _ = new_encoder(options.work, options.settings, options.seed, options.start)
    known = aside_rows(data, KNOWN)
    lines, moved = carry_lines(old, model, data, known, MOVED, WINDOWS)
    mine = {role: shipped['calibration'][role] for role in MOVED}
    knots = {**shipped['calibration'], **calibration.sound(calibration.carried(mine, lines))}
    near = twin_rows(data)
    knots['user'] = calibration.measured(
        calibration.raised(knots['user']),
        [replace(data.rows[int(i)], role='user') for i in known],
        np.array([len(data.pieces(int(i))) for i in known]),
        score(model, data, known, LENGTH, WINDOWS, role='user').logits,
        score(model, data, near, LENGTH, WINDOWS).logits,
        calibration.even_weights([data.rows[int(i)].source for i in near]),
    )
    measured = {
        'asked_before': caught(data, old, shipped['calibration']),
        'asked': caught(data, model, knots),
        'asked_moved': moved,
        'asked_lines': lines,
    }
    # Whatever else was told of these weights is still true.
    told = {**shipped['calibrated'], **calibration.manifest(knots), **measured}
    (options.work / 'calibration.json').write_text(json.dumps(told, indent=1))
    return measured


def twin_rows(data: Dataset) -> np.ndarray:
    """Honest rows of users that no run learns from and that come close to harm: written twins, and the harmless side of mixed sources."""
    clean = harmless_sources(data.rows)
    near = np.array([row.benign and row.role == 'user' and row.source not in clean for row in data.rows])
    return np.sort(chosen(data, Plan(np.flatnonzero(aside(data) & near & ~beside_guards(data)), 17, NEAR), 0)[0])


def caught(data: Dataset, model: Encoder, knots: dict[str, dict[str, dict[str, list[list[float]]]]]) -> dict[str, object]:
    """Of written rows that are kept back, by what they are: how many there are and the share that is stopped."""
    which = np.flatnonzero(aside(data) & np.array([row.source in ASKED for row in data.rows]))
    rows = [data.rows[int(i)] for i in which]
    pieces = np.array([len(data.pieces(int(i))) for i in which])
    told = calibration.confidences(knots, rows, pieces, score(model, data, which, LENGTH, WINDOWS).logits)
    table: dict[str, object] = {}
    for source in ASKED:
        for harmful in (True, False):
            mine = np.array([row.source == source and bool(row.labels) == harmful for row in rows])
            name = f'{source.removeprefix("written:")}, {"harmful" if harmful else "honest"}'
            table[name] = {'rows': int(mine.sum()), 'stopped': round(float((told[mine] >= STOPPED).mean()), 4) if mine.any() else None}
    return table
