"""Scores of whole texts: every window is read, and a lane's score is the highest of any window."""

from __future__ import annotations

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
    parts.sort(key=lambda part: len(part[2]))
    best = np.full((len(rows), len(LANES)), -np.inf, np.float32)
    focus = np.zeros(len(rows), np.int64)
    model.eval()
    at = 0
    while at < len(parts):
        count = 1
        while at + count < len(parts) and len(parts[at + count][2]) * (count + 1) <= budget:
            count += 1
        members = parts[at : at + count]
        at += count
        ids = np.full((count, len(members[-1][2])), PAD, np.int64)
        for i, (_, _, pieces) in enumerate(members):
            ids[i, : len(pieces)] = pieces
        with torch.no_grad(), half():
            logits = model(torch.from_numpy(ids)).float().numpy()
        for (place, start, _), found in zip(members, logits, strict=True):
            if found.max() > best[place].max():
                focus[place] = start
            best[place] = np.maximum(best[place], found)
    return Scores(rows, best, focus)
