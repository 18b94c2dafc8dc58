"""Thresholds from the pooled held-out scores: quantiles of harmless sources that the scoring model never saw.

Every source counts alike, whatever its size, in a class of lengths; a threshold is the lowest score at which, of the
harmless texts of that class, no more than the bound is exceeded. It is no confidence on mixed rows. Where the worst
source would be stopped more than twice as often as the bound allows, `worst` names it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from .lanes import LANE
from .metrics import weighted_threshold
from .rows import Row

BOUNDS = (0.005, 0.01, 0.02)
# By pieces of the whole text: one window, up to three, more.
CLASSES = (('one window', 0, 125), ('up to three', 126, 320), ('longer', 321, 10**9))
# Fewer rows of a source in a class say nothing of it.
LEAST = 20


@dataclass(frozen=True)
class Threshold:
    """Where a lane stops texts of a class, and what that does to harmless sources."""

    lane: str
    said: str
    lengths: str
    bound: float
    score: float
    mean: float
    worst: str
    worst_share: float


def class_of(pieces: int) -> str:
    """The class of a text by its length."""
    return next(name for name, low, high in CLASSES if low <= pieces <= high)


def harmless_sources(rows: list[Row]) -> set[str]:
    """Sources that hold nothing harmful at all.

    In others the line runs through the texts, and annotators err near it.
    """
    return {row.source for row in rows if row.benign} - {row.source for row in rows if not row.benign}


def choose(
    rows: list[Row],
    pieces: np.ndarray,
    logits: np.ndarray,
    lanes: tuple[str, ...],
    said: str = 'user',
    together: bool = False,
) -> list[Threshold]:
    """Thresholds for what `said` speaks.

    :param rows: held-out rows with their `pieces` and `logits`
    :param together: the bound holds for all lanes at once, each being given the same share of it
    """
    found: list[Threshold] = []
    clean = harmless_sources(rows)
    for name, low, high in CLASSES:
        members: dict[str, list[int]] = defaultdict(list)
        for i, row in enumerate(rows):
            if row.source in clean and row.role == said and low <= pieces[i] <= high:
                members[row.source].append(i)
        kept = {source: np.array(which) for source, which in members.items() if len(which) >= LEAST}
        if not kept:
            continue
        which = np.concatenate(list(kept.values()))
        weights = np.concatenate([np.full(len(part), 1 / len(part)) for part in kept.values()])
        scores = logits[which][:, [LANE[lane] for lane in lanes]]
        for bound in BOUNDS:
            share = _share(scores, weights, bound) if together else bound
            for lane in lanes:
                at = weighted_threshold(logits[which, LANE[lane]], weights, share)
                shares = {source: float((logits[part, LANE[lane]] > at).mean()) for source, part in kept.items()}
                worst = max(shares, key=lambda source: shares[source])
                mean = float(np.mean(list(shares.values())))
                found.append(Threshold(lane, said, name, bound, at, mean, worst, shares[worst]))
    return found


def _share(scores: np.ndarray, weights: np.ndarray, bound: float) -> float:
    """The largest share that every lane may exceed while all of them together exceed no more than the bound."""
    low, high = bound / scores.shape[1], bound
    for _ in range(12):
        middle = (low + high) / 2
        at = np.array([weighted_threshold(column, weights, middle) for column in scores.T])
        union = float(weights[(scores > at).any(1)].sum() / weights.sum())
        low, high = (middle, high) if union <= bound else (low, middle)
    return low


def stopped(
    rows: list[Row], pieces: np.ndarray, logits: np.ndarray, thresholds: list[Threshold], bound: float
) -> np.ndarray:
    """Which rows any of the lanes stops, each at its threshold for the row's length."""
    at = {(t.lane, t.said, t.lengths): t.score for t in thresholds if t.bound == bound}
    lanes = sorted({t.lane for t in thresholds})
    out = np.zeros(len(rows), bool)
    for i in range(len(rows)):
        lengths = class_of(int(pieces[i]))
        out[i] = any(logits[i, LANE[lane]] > at.get((lane, rows[i].role, lengths), np.inf) for lane in lanes)
    return out
