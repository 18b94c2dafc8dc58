"""Teaches weights that ship what goes for what a prompt keeps, and nothing else: layers of their own read it.

Two questions, one lane. Beside an empty text: whether a sentence of a prompt keeps something. Beside a text: whether it goes
for what the sentences keep. The layers below, which everybody's words go through, stay as they are, and so does every score
of texts that stand beside no guard, to the bit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .apart import aside, beside_guards
from .base import new_encoder
from .batches import Plan
from .dataset import load
from .guard_told import LENGTH
from .loop import Budget, train_once
from .pairs import FREE, PAIRS, SENTENCES
from .runs import Options


def learn(options: Options) -> dict[str, float]:
    """Trains for `options.minutes`; leaves `round-0.pt` in the work folder.

    :raises ValueError: no weights to start from were named
    """
    if options.start is None:
        raise ValueError('--start is needed: the folder with the weights that are to learn it')
    data = load(options.work)
    model, _ = new_encoder(options.work, replace(options.settings, branches=('guards',)), options.seed, options.start)
    model.requires_grad_(False)
    model.branches['guards'].requires_grad_(True)
    rows = np.flatnonzero(beside_guards(data) & ~aside(data))
    plan = Plan(rows, options.seed, options.most, LENGTH, options.budget, 0, (PAIRS, FREE, SENTENCES))
    budget = Budget(options.epochs, options.minutes, options.rate)
    return train_once(model, data, plan, budget, options.work, seed=options.seed)
