"""What stands apart from what a run learns from: rows that no run sees, a fold that sets thresholds, texts beside guards."""

from __future__ import annotations

import hashlib

import numpy as np

from .batches import Plan, chosen
from .dataset import Dataset
from .pairs import kept_back
from .relatives import made_here
from .rows import Row
from .thresholds import harmless_sources

# Of the harmless rows one in so many is never trained on, in any run: see `aside`.
ASIDE = 12


def aside(data: Dataset) -> np.ndarray:
    """Harmless rows, and texts beside a guard, that no run learns from, by a hash of their text: (rows,) of bool.

    A short run of a fold and the long one that ships do not score alike. What both say of these rows, whose sources
    both know, tells what a score of the one is in the other.
    """
    def is_aside(row: Row) -> bool:
        if row.source.startswith('written:'):
            return kept_back(row)
        known = row.guard != '' or row.benign and not made_here(row.source)
        return known and hashlib.sha256(row.text.encode()).digest()[0] % ASIDE == 0

    return np.array([is_aside(row) for row in data.rows])


def left_out(data: Dataset, fold: int) -> np.ndarray:
    """The rows of a fold that thresholds come from: (rows,) of bool.

    They are those of its sources that hold nothing harmful, with what was composed from them. Harmful requests are
    scarce, and say nothing about false alarms: the model learns from all of them.

    :param fold: -1 for none; rows that the project makes are in no fold and never left out
    """
    if fold < 0:
        return np.zeros(len(data), bool)
    mixed = {row.source for row in data.rows if not row.benign and not made_here(row.source)}
    return np.array(
        [data.fold[i] == fold and row.source not in mixed for i, row in enumerate(data.rows)]
    )


def aside_rows(data: Dataset, most: int = 250) -> np.ndarray:
    """Those of them that are scored: at most so many a source, the same for every model.

    They are harmless and of sources that set thresholds. What a model has learnt to stop would otherwise be taken for
    harmless texts that score higher than before.
    """
    clean = harmless_sources(data.rows)
    sets = np.array([row.benign and row.source in clean for row in data.rows])
    return np.sort(chosen(data, Plan(np.flatnonzero(aside(data) & sets & ~beside_guards(data)), 11, most), 0)[0])


def beside_guards(data: Dataset) -> np.ndarray:
    """The texts that stand beside a guard: (rows,) of bool."""
    return np.diff(data.guard_start) > 0
