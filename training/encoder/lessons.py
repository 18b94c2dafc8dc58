"""Lessons for weights that ship: what people ask of models, what models answer, or both. Every other score is held where it is.

The upper layers and the head learn; the lower two, which other layers stand on too, stay as they are, and with them every
score of tools and of texts beside guards, to the bit. Of all other texts at hand the weights must go on saying what they said
when they shipped, whatever labels say ("learning without forgetting", Li and Hoiem, arXiv 1606.09282): rows that were written
one at a time are few, and a round on everything moved more than it taught.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from .answered import ANSWERED, ANSWERS
from .apart import aside, beside_guards
from .asked import ABROAD, ASKED, CHATS
from .base import new_encoder
from .batches import Batch, Plan
from .dataset import load
from .loop import Budget, train_once
from .model import Branch, Encoder, half
from .runs import Options, mix

LENGTH = 128
# How much a score that moves counts beside one that is wrong.
HOLD = 0.4
# By step, the sources that are learnt, by the beginnings of their names, and how much of what was learnt is kept, against what was there
# before (WiSE-FT, arXiv 2109.01903). Of what is asked all of the way is hardly more than half of it, and other people's harmless texts score
# higher there than the confidences bear; of answers half of the way loses half of what was learnt.
LESSONS: dict[str, tuple[tuple[str, ...], float]] = {
    'asked': (ASKED, 0.5),
    'answered': (ANSWERED, 0.75),
    # All that was written one at a time: for weights that know both already, when such rows were added.
    'written': ((*ASKED, ANSWERS, CHATS), 0.75),
    # The corpora hold harmful requests and little else in some languages: the language itself must not be a sign of harm.
    'abroad': ((ABROAD,), 0.75),
}


def learn(options: Options, lesson: str) -> dict[str, float]:
    """Trains for `options.epochs` or `options.minutes`; leaves `round-0.pt` in the work folder.

    :param lesson: one of `LESSONS`
    :raises ValueError: no weights to start from were named, or the work folder holds what another lesson came to
    """
    if options.start is None:
        raise ValueError('--start is needed: the folder with the weights that are to learn it')
    taught, share = LESSONS[lesson]
    _begin(options.work, lesson)
    data = load(options.work)
    model, _ = new_encoder(options.work, options.settings, options.seed, options.start)
    start = {name: value.clone() for name, value in model.state_dict().items()}
    before = model.branch().requires_grad_(False).eval()
    model.requires_grad_(False)
    for layer in model.layers[: model.shared]:
        layer.dropout = 0.0
    for part in (*model.layers[model.shared :], model.head):
        part.requires_grad_(True)
    learnt = np.array([row.source.startswith(taught) for row in data.rows])
    others = ~learnt & ~beside_guards(data) & np.array([row.role != 'tool' for row in data.rows])
    free = (learnt | others) & ~aside(data)
    # Of rows of which nothing is known the score is held.
    held = replace(data, value=np.where(learnt[:, None], data.value, -1).astype(data.value.dtype))
    plan = Plan(np.flatnonzero(free), options.seed, options.most, LENGTH, options.budget, 0, taught)
    budget = Budget(options.epochs, options.minutes, options.rate)
    told = train_once(model, held, plan, budget, options.work, seed=options.seed, loss=holding(before))
    part_way(model, start, share, options.work)
    return told


def _begin(work: Path, lesson: str) -> None:
    """A lesson that was cut off is gone on with; the checkpoints of another are not taken for its own."""
    begun = work / 'lesson'
    if begun.exists() and begun.read_text() != lesson:
        raise ValueError(f'{work} holds what "{begun.read_text()}" came to: give "{lesson}" a work folder of its own')
    begun.write_text(lesson)


def part_way(model: Encoder, start: dict[str, torch.Tensor], share: float, work: Path) -> None:
    """Takes the model a share of the way from `start` to what it learnt. `round-0.pt` holds that afterwards, `round-0-learnt.pt` the end of the way."""
    checkpoint, learnt, before = work / 'round-0.pt', work / 'round-0-learnt.pt', work / 'start.pt'
    if not learnt.exists():
        torch.save({'model': start}, before)
        checkpoint.rename(learnt)
        mix(before, learnt, share, checkpoint)
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
