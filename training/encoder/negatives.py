"""Rounds: what the model of the round before gets wrong in the rows it may learn from counts more in the next.

Two things are taken from a round's scores. Harmless rows that score highest are always in the next epoch and count
double. Of long harmful rows, the window that scored highest is the one that is read: a label stands for a page of which
two lines earned it, and a window at random would often show none of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .batches import Plan
from .dataset import Dataset
from .lanes import LANE
from .model import Encoder
from .scoring import score

WATCHED = ('harmful_request', 'unsafe', 'jailbreak', 'prompt_injection', 'cyber_misuse', 'illicit')
# Of the harmless rows looked at, how many are taken for hard, and how much more they count.
HARD_SHARE, HARD_WEIGHT = 0.04, 2.0


def mine(model: Encoder, data: Dataset, plan: Plan, looked_at: int, seed: int, length: int) -> Plan:
    """:param looked_at: harmless rows that are scored. :returns: the plan of the next round"""
    random = np.random.default_rng(seed)
    benign = np.array([row for row in plan.rows if data.rows[int(row)].benign])
    benign = random.choice(benign, min(looked_at, len(benign)), replace=False)
    room = length - 3
    long = np.array([row for row in plan.rows if data.rows[int(row)].harmful and len(data.pieces(int(row))) > room])
    long = random.choice(long, min(looked_at // 4, len(long)), replace=False)
    found = score(model, data, benign, length, most=3)
    worst = found.logits[:, [LANE[lane] for lane in WATCHED]].max(1)
    hard = benign[np.argsort(-worst)[: int(len(benign) * HARD_SHARE)]]
    told = score(model, data, long, length, most=6)
    focus = {int(row): int(start) for row, start in zip(told.rows, told.focus, strict=True)}
    return replace(
        plan,
        seed=plan.seed + 1,
        hard={int(row): HARD_WEIGHT for row in hard},
        focus={**plan.focus, **focus},
    )
