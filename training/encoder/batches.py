"""What one epoch trains on: at most so many rows a source, windows of long texts, batches of like lengths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch

from .dataset import Dataset
from .roles import told
from .vocabulary import PAD
from .windows import framed, inside, random_start, room_beside, window

# One row in so many loses some of its pieces, and how many of them.
THINNED, LEFT_OUT = 0.25, 0.1


@dataclass
class Plan:
    """Rows to choose from and how.

    `most` rows of a source in an epoch (of a grammar's topic: half of that); `length` pieces a row with its marks;
    `budget` pieces a batch; `whole`: sources, by the beginnings of their names, of which every row is in; `hard`: rows that are always in, with how much more they count; `focus`: where the window
    of a row begins, as the round before found it most telling.
    """

    rows: np.ndarray
    seed: int
    most: int = 4000
    length: int = 96
    budget: int = 6144
    composed: float = 0.08
    whole: tuple[str, ...] = ()
    hard: dict[int, float] = field(default_factory=dict)
    focus: dict[int, int] = field(default_factory=dict)


@dataclass
class Batch:
    """Pieces (rows, length), targets and weights (rows, lanes)."""

    ids: torch.Tensor
    value: torch.Tensor
    weight: torch.Tensor


def chosen(data: Dataset, plan: Plan, epoch: int) -> tuple[np.ndarray, np.ndarray]:
    """:returns: the rows of an epoch, and how much each counts: rows of small sources count more, up to three times"""
    random = np.random.default_rng((plan.seed, epoch))
    by_source: dict[str, list[int]] = defaultdict(list)
    for row in plan.rows:
        by_source[data.rows[row].source].append(int(row))
    rows: list[int] = []
    share: list[float] = []
    for source, members in sorted(by_source.items()):
        most = plan.most // 2 if source.startswith('grammar:') else plan.most
        if source.startswith(plan.whole):
            most = len(members)
        hard = [row for row in members if row in plan.hard]
        others = [row for row in members if row not in plan.hard]
        taken = others if len(others) <= most else list(random.choice(others, most, replace=False))
        base = float(np.clip(np.sqrt(1500 / max(1, len(taken) + len(hard))), 0.5, 3))
        rows += [int(row) for row in taken] + hard
        share += [base] * len(taken) + [base * plan.hard[row] for row in hard]
    return np.array(rows), np.array(share, np.float32)


def batches(data: Dataset, plan: Plan, epoch: int) -> Iterator[Batch]:
    """The batches of an epoch, the same for the same seed."""
    rows, share = chosen(data, plan, epoch)
    random = np.random.default_rng((plan.seed, epoch, 1))
    carriers = [int(row) for row in rows if data.rows[row].benign and data.rows[row].role == 'user']
    samples = [_sample(data, plan, int(row), carriers, random) for row in rows]
    lengths = np.array([len(sample) for sample in samples])
    # Near, not equal, lengths: batches differ between epochs.
    order = np.argsort(lengths * random.uniform(0.9, 1.1, len(lengths)))
    groups: list[list[int]] = [[]]
    longest = 0
    for i in order:
        longest = max(longest, int(lengths[i]))
        if groups[-1] and longest * (len(groups[-1]) + 1) > plan.budget:
            groups.append([])
            longest = int(lengths[i])
        groups[-1].append(int(i))
    for at in random.permutation(len(groups)):
        members = groups[at]
        ids = np.full((len(members), max(lengths[i] for i in members)), PAD, np.int64)
        for place, i in enumerate(members):
            ids[place, : lengths[i]] = samples[i]
        which = rows[members]
        weight = data.weight[which] * share[members][:, None]
        yield Batch(torch.from_numpy(ids), torch.from_numpy(data.value[which]), torch.from_numpy(weight))


def _sample(data: Dataset, plan: Plan, row: int, carriers: list[int], random: np.random.Generator) -> np.ndarray:
    ids, role = data.pieces(row), told(data.rows[row], random)
    guard = data.guard(row)
    room = room_beside(guard, plan.length)
    if len(ids) > room:
        start = plan.focus.get(row)
        if start is None:
            start = random_start(len(ids), room, random, data.rows[row].position)
        ids = window(ids, room, start)
    elif len(guard) == 0 and len(ids) < room * 3 // 4 and role == 'user' and carriers and random.random() < plan.composed:
        # An attack may stand anywhere in a text, and a harmless text is often several laid end to end.
        ids = inside(ids, data.pieces(carriers[int(random.integers(len(carriers)))]), room, random)
    if len(ids) >= 12 and random.random() < THINNED:
        # Some pieces are left out, so that no single word carries a label.
        ids = ids[random.random(len(ids)) >= LEFT_OUT]
    return framed(ids, role, guard)
