"""Windows of texts that are longer than the encoder reads at once, and texts laid beside one another."""

from __future__ import annotations

import numpy as np

from .vocabulary import END, ROLE_ID, START

# The start, the role and the end.
MARKS = 3
# Pieces of a guard that are read, from its beginning: `guardPieces` in `src/encoder/windows.ts`.
GUARD = 64


def framed(ids: np.ndarray, role: str, guard: np.ndarray | None = None) -> np.ndarray:
    """What the encoder is given: the start, who speaks, the pieces, the end; before the end the system's role and a guard, if any."""
    kept = [] if guard is None or len(guard) == 0 else [[ROLE_ID['system']], guard[:GUARD]]
    return np.concatenate([[START, ROLE_ID[role]], ids, *kept, [END]]).astype(np.int64)


def room_beside(guard: np.ndarray, length: int) -> int:
    """The pieces of a text that stand in a window of `length` beside a guard, marks counted."""
    return length - MARKS - (min(len(guard), GUARD) + 1 if len(guard) > 0 else 0)


def starts(count: int, length: int, most: int) -> list[int]:
    """Where the windows of a text of `count` pieces begin.

    They overlap by a quarter, at most `most` of them, spread evenly.
    """
    if count <= length:
        return [0]
    last = count - length
    wanted = -(-last // max(1, length * 3 // 4)) + 1
    return [round(i * last / (min(wanted, most) - 1)) for i in range(min(wanted, most))] if most > 1 else [0]


def random_start(count: int, length: int, random: np.random.Generator, position: str = '') -> int:
    """A window at random; one in three is the opening, which says most about a text.

    :param position: where to look, if that is known: start, middle or end
    """
    if count <= length or position == 'start':
        return 0
    if position == 'end':
        return count - length
    if position == 'middle':
        near = (count - length) / 2 + random.uniform(-0.25, 0.25) * length
        return int(np.clip(near, 0, count - length))
    if random.random() < 1 / 3:
        return 0
    return int(random.integers(0, count - length + 1))


def window(ids: np.ndarray, length: int, start: int) -> np.ndarray:
    """`length` pieces from `start` on, or as many as there are."""
    return ids[start : start + length]


def inside(ids: np.ndarray, around: np.ndarray, length: int, random: np.random.Generator) -> np.ndarray:
    """A text somewhere in another, whole, with as much of the other as fits."""
    room = length - len(ids)
    if room <= 4:
        return ids[:length]
    room = min(room, len(around), int(random.integers(4, room + 1)))
    before = int(random.integers(0, room + 1))
    at = int(random.integers(0, len(around) - room + 1))
    return np.concatenate([around[at : at + before], ids, around[at + before : at + room]])
