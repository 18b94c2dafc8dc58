"""Scores of whole texts: every window is read, and a lane's score is the highest of any window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from .dataset import Dataset
from .lanes import LANES
from .model import Encoder, half
from .vocabulary import PAD
from .windows import framed, room_beside, starts, window


@dataclass
class Scores:
    """By row: the highest logit of each lane, and where the window with the highest of all begins."""

    rows: np.ndarray
    logits: np.ndarray
    focus: np.ndarray


def padded(windows: list[np.ndarray], budget: int) -> Iterator[tuple[list[int], torch.Tensor]]:
    """Windows in batches of like length, padded to no more than `budget` pieces: their numbers, and (rows, pieces) of ids."""
    order = sorted(range(len(windows)), key=lambda i: len(windows[i]))
    at = 0
    while at < len(order):
        count = 1
        while at + count < len(order) and len(windows[order[at + count]]) * (count + 1) <= budget:
            count += 1
        members = order[at : at + count]
        at += count
        ids = np.full((count, len(windows[members[-1]])), PAD, np.int64)
        for place, i in enumerate(members):
            ids[place, : len(windows[i])] = windows[i]
        yield members, torch.from_numpy(ids)


def score(
    model: Encoder,
    data: Dataset,
    rows: np.ndarray,
    length: int = 128,
    most: int = 8,
    budget: int = 8192,
    role: str | None = None,
) -> Scores:
    """:param most: windows of a text that are read
    :param role: who is told to speak, whoever the row says
    """
    parts: list[tuple[int, int, np.ndarray]] = []
    for place, row in enumerate(rows):
        ids, guard = data.pieces(int(row)), data.guard(int(row))
        room = room_beside(guard, length)
        for start in starts(len(ids), room, most):
            parts.append((place, start, framed(window(ids, room, start), role or data.rows[int(row)].role, guard)))
    best = np.full((len(rows), len(LANES)), -np.inf, np.float32)
    focus = np.zeros(len(rows), np.int64)
    model.eval()
    for which, ids in padded([pieces for _, _, pieces in parts], budget):
        members = [parts[i] for i in which]
        with torch.no_grad(), half():
            logits = model(ids).float().numpy()
        for (place, start, _), found in zip(members, logits, strict=True):
            if found.max() > best[place].max():
                focus[place] = start
            best[place] = np.maximum(best[place], found)
    return Scores(rows, best, focus)
