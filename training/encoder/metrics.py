"""Measures of scores, with intervals: AUROC, shares with Wilson's interval, thresholds as quantiles."""

from __future__ import annotations

import numpy as np


def auroc(positive: np.ndarray, negative: np.ndarray) -> float:
    """The chance that a positive scores above a negative; ties count half."""
    if len(positive) == 0 or len(negative) == 0:
        return float('nan')
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, 'left')
    upto = np.searchsorted(ordered, positive, 'right')
    return float((below + upto).sum() / (2 * len(positive) * len(negative)))


def auroc_interval(positive: np.ndarray, negative: np.ndarray) -> tuple[float, float]:
    """95 % by Hanley and McNeil (1982)."""
    area = auroc(positive, negative)
    p, n = len(positive), len(negative)
    q1, q2 = area / (2 - area), 2 * area * area / (1 + area)
    spread = (area * (1 - area) + (p - 1) * (q1 - area * area) + (n - 1) * (q2 - area * area)) / (p * n)
    half = 1.96 * float(np.sqrt(max(0.0, spread)))
    return max(0.0, area - half), min(1.0, area + half)


def wilson(hits: int, count: int) -> tuple[float, float]:
    """95 % interval of a share."""
    if count == 0:
        return 0.0, 1.0
    z, share = 1.96, hits / count
    middle = share + z * z / (2 * count)
    half = z * np.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return float((middle - half) / (1 + z * z / count)), float((middle + half) / (1 + z * z / count))


def weighted_threshold(scores: np.ndarray, weights: np.ndarray, bound: float) -> float:
    """The lowest score that at most `bound` of the weight exceeds."""
    order = np.argsort(-scores, kind='stable')
    above = np.cumsum(weights[order]) / weights.sum()
    inside = int(np.searchsorted(above, bound, 'right'))
    return float(scores[order[min(inside, len(order) - 1)]])
