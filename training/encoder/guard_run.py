"""Teaches weights that ship what goes for what a prompt keeps, and nothing else: layers of their own read it.

Two questions, one lane. Beside an empty text: whether a sentence of a prompt keeps something. Beside a text: whether it goes
for what the sentences keep. The layers below, which everybody's words go through, stay as they are, and so does every score
of texts that stand beside no guard, to the bit.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from . import calibration
from .apart import aside, beside_guards
from .base import new_encoder
from .batches import Plan
from .dataset import Dataset, load
from .guard_told import LENGTH, pairs_told
from .loop import Budget, train_once
from .model import Encoder
from .runs import Options


def learn(options: Options) -> dict[str, object]:
    """Trains for `options.minutes`; leaves `round-0.pt` and `calibration.json` in the work folder.

    :raises ValueError: no weights to start from were named
    """
    if options.start is None:
        raise ValueError('--start is needed: the folder with the weights that are to learn it')
    data = load(options.work)
    model, _ = new_encoder(options.work, replace(options.settings, branches=('guards',)), options.seed, options.start)
    model.requires_grad_(False)
    model.branches['guards'].requires_grad_(True)
    rows = np.flatnonzero(beside_guards(data) & ~aside(data))
    plan = Plan(rows, options.seed, options.most, LENGTH, options.budget, 0, ('written:',))
    budget = Budget(options.epochs, options.minutes, options.rate)
    told = train_once(model, data, plan, budget, options.work, seed=options.seed)
    return {**told, **settle(options, data, model)}


def settle(options: Options, data: Dataset, model: Encoder) -> dict[str, object]:
    """The confidences beside guards, and what keeps something; those of all others as they shipped."""
    assert options.start is not None
    pairs = pairs_told(model, data, options.windows)
    shipped = json.loads((options.start / 'encoder.json').read_text())
    told = {
        **shipped['calibrated'],
        **calibration.manifest({**shipped['calibration'], 'guarded': pairs.pop('knots')}),
        **pairs,
    }
    (options.work / 'calibration.json').write_text(json.dumps(told, indent=1))
    return pairs
