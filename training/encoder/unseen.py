"""How much more often harmless texts score high where a model did not know their source: what `calibration.UNSEEN` stands for.

Of each fold one model learnt nothing. A level that so many of its harmless texts exceed is exceeded by fewer texts that no model learnt
from, but of sources that it knew: the quotient is how far figures on known sources flatter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .calibration import GROUPS, even_weights
from .dataset import Dataset
from .lanes import LANE
from .thresholds import harmless_sources

SHARES = (0.02, 0.01, 0.005, 0.002)


def unseen(data: Dataset, found: list[Any]) -> dict[str, dict[str, dict[str, float]]]:
    """
    :param found: by fold, what `device.run.held` kept
    :returns: by role, group and share of unseen harmless texts: how many times as many they are as among known sources
    """
    clean = harmless_sources(data.rows)
    told: dict[str, dict[str, dict[str, float]]] = {}
    for role, groups in GROUPS.items():
        suffix = '' if role == 'user' else f'_{role}'
        sides: list[tuple[np.ndarray, np.ndarray]] = []
        for rows_of, scores_of in (('rows' if role == 'user' else 'again', 'encoder'), ('known', 'encoder_known')):
            logits, sources = [], []
            for number, part in enumerate(found):
                which = part[rows_of]
                kept = np.array([_plain(data, int(i)) and data.rows[int(i)].source in clean for i in which])
                logits.append(part[f'{scores_of}{suffix}'][kept].astype(np.float64))
                sources += [f'{number} {data.rows[int(i)].source}' for i in which[kept]]
            weights = even_weights(sources)
            sides.append((np.concatenate(logits), weights / weights.sum()))
        told[role] = {group: _times(*sides, LANE[lane]) for group, (lane, _) in groups.items()}
    return told


def _plain(data: Dataset, row: int) -> bool:
    return data.rows[row].benign and data.rows[row].role == 'user' and data.rows[row].guard == ''


def _times(new: tuple[np.ndarray, np.ndarray], known: tuple[np.ndarray, np.ndarray], lane: int) -> dict[str, float]:
    scores, weights = new[0][:, lane], new[1]
    order = np.argsort(-scores)
    passed = np.cumsum(weights[order])
    told = {}
    for share in SHARES:
        level = scores[order][min(int(np.searchsorted(passed, share)), len(order) - 1)]
        reached = float(known[1][known[0][:, lane] > level].sum())
        told[str(share)] = round(share / max(reached, 1e-5), 1)
    return told
