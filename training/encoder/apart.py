"""What stands apart from what a run learns from: rows that no run sees, a fold that sets thresholds, texts beside guards."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from .pairs import kept_back
from .relatives import made_here
from .rows import Row

if TYPE_CHECKING:
    from .dataset import Dataset

# Of the harmless rows one in so many is never trained on, in any run: see `aside`.
ASIDE = 12


def aside(data: Dataset) -> np.ndarray:
    """Harmless rows, and texts beside a guard, that no run learns from, by a hash of their text: (rows,) of bool.

    They set the confidences (`settle.py`): whatever weights have learnt, what they say of these is what they say of texts that are new.
    """
    return np.array([is_aside(row) for row in data.rows])


def is_aside(row: Row) -> bool:
    """Whether no run learns from a row."""
    if row.source.startswith('written:'):
        return kept_back(row)
    known = row.guard != '' or row.benign and not made_here(row.source)
    return known and hashlib.sha256(row.text.encode()).digest()[0] % ASIDE == 0


def left_out(data: Dataset, fold: int) -> np.ndarray:
    """The rows of a fold that a run leaves out: (rows,) of bool.

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


def beside_guards(data: Dataset) -> np.ndarray:
    """The texts that stand beside a guard: (rows,) of bool."""
    return np.diff(data.guard_start) > 0
