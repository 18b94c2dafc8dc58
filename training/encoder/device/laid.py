"""Epochs and batches laid out by whole arrays: rows drawn by source, windows drawn at random, batches put together on the device.

It follows `batches.py` in what it draws; what is drawn for hundreds of thousands of rows there one by one is drawn here at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from ..batches import LEFT_OUT, THINNED
from ..roles import BY_SOURCE, SHARES
from ..rows import ROLES
from ..vocabulary import END, PAD, ROLE_ID, START
from ..windows import MARKS
from .carried import POSITIONS, Carried

MAIN, TOOLS, GUARDS = '', 'tools', 'guards'
TOOL = ROLES.index('tool')
SHARE_TABLE = np.array([*SHARES.values(), *BY_SOURCE.values()])
SPECIALS = (START, END, *ROLE_ID.values())


@dataclass
class Way:
    """What goes through one part of the encoder in an epoch.

    `most` rows of a source; sources whose names begin with `whole` are in whole, and count in full however many rows they have.
    """

    branch: str
    rows: np.ndarray
    most: int
    whole: tuple[str, ...] = ()


@dataclass
class Samples:
    """One epoch of one way, by sample: the row, how much it counts, and segments as (begin, count) in the flat pieces."""

    branch: str
    row: np.ndarray
    share: np.ndarray
    begin: np.ndarray
    count: np.ndarray


@dataclass
class Batch:
    """Pieces (rows, length), targets and weights (rows, lanes), all on the device."""

    branch: str
    ids: torch.Tensor
    value: torch.Tensor
    weight: torch.Tensor


@dataclass
class Desk:
    """The rows with their pieces on the device, marks behind them."""

    rows: Carried
    device: str
    length: int = 128

    def __post_init__(self) -> None:
        size = len(self.rows.flat)
        self.mark = {piece: size + i for i, piece in enumerate(SPECIALS)}
        flat = np.concatenate([self.rows.flat, np.array(SPECIALS, self.rows.flat.dtype)])
        self.flat = torch.from_numpy(flat.astype(np.int32)).to(self.device)
        self.value = torch.from_numpy(self.rows.value).to(self.device)
        self.weight = torch.from_numpy(self.rows.weight.astype(np.float32)).to(self.device)
        self.focused = np.full(len(self.rows.begin), -1, np.int64)

    def chosen(self, way: Way, random: np.random.Generator, hard: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """:param hard: rows that are always in, and count double
        :returns: the rows of an epoch, and how much each counts: rows of small sources count more, up to three times"""
        is_hard = np.zeros(len(self.rows.begin), bool)
        is_hard[hard] = True
        source = self.rows.source[way.rows]
        order = way.rows[np.argsort(source, kind='stable')]
        ends = np.cumsum(np.bincount(source, minlength=len(self.rows.sources)))
        rows, share = [], []
        for number, members in enumerate(np.split(order, ends[:-1])):
            if len(members) == 0:
                continue
            name = self.rows.sources[number]
            whole = name.startswith(way.whole)
            most = len(members) if whole else way.most // 2 if name.startswith('grammar:') else way.most
            own, others = members[is_hard[members]], members[~is_hard[members]]
            taken = others if len(others) <= most else random.choice(others, most, replace=False)
            base = float(np.clip(np.sqrt(1500 / max(1, len(taken) + len(own))), 1 if whole else 0.5, 3))
            rows += [taken, own]
            share += [np.full(len(taken), base), np.full(len(own), base * 2)]
        return np.concatenate(rows), np.concatenate(share).astype(np.float32)

    def samples(self, way: Way, random: np.random.Generator, hard: np.ndarray, composed: float = 0.1) -> Samples:
        """An epoch of a way: who speaks, which window, and what lies around it."""
        row, share = self.chosen(way, random, hard)
        c = self.rows
        role = self._told(row, random) if way.branch != TOOLS else np.full(len(row), TOOL)
        if way.branch == MAIN:
            # What is told as a tool's words is for the tools' layers, which draw their own rows.
            kept = role != TOOL
            row, share, role = row[kept], share[kept], role[kept]
        guard = c.guard_count[row]
        room = self.length - MARKS - np.where(guard > 0, guard + 1, 0)
        whole = c.count[row].astype(np.int64)
        at = self._starts(row, whole, room, random)
        size = np.minimum(whole, room)
        begin, count = self._framed(row, role, at, size)
        if way.branch == MAIN:
            self._lay_around(begin, count, row, role, room, size, composed, random)
        return Samples(way.branch, row, share, begin, count)

    def _framed(self, row: np.ndarray, role: np.ndarray, at: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The segments of windows as `windows.framed` has them: (begin, count), (windows, 8) each; 2 and 4 are for what lies around.

        :param at: where in its text a window begins, and its `size`
        """
        c = self.rows
        guard = c.guard_count[row]
        begin, count = np.zeros((len(row), 8), np.int64), np.zeros((len(row), 8), np.int64)
        begin[:, 0], count[:, 0] = self.mark[START], 1
        marks = np.array([self.mark[ROLE_ID[name]] for name in ROLES])
        begin[:, 1], count[:, 1] = marks[role], 1
        begin[:, 3], count[:, 3] = c.begin[row] + at, size
        begin[:, 5], count[:, 5] = self.mark[ROLE_ID['system']], guard > 0
        begin[:, 6], count[:, 6] = c.guard_begin[row], guard
        begin[:, 7], count[:, 7] = self.mark[END], 1
        return begin, count

    def _told(self, row: np.ndarray, random: np.random.Generator) -> np.ndarray:
        telling = self.rows.telling[row]
        drawn = (random.random(len(row))[:, None] >= np.cumsum(SHARE_TABLE[np.maximum(telling, 0)], 1)).sum(1)
        return np.where(telling >= 0, np.minimum(drawn, len(ROLES) - 1), self.rows.role[row])

    def _starts(self, row: np.ndarray, whole: np.ndarray, room: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Where windows begin: one in three is the opening; where the corpus or a round before says which, that one."""
        last = np.maximum(whole - room, 0)
        at = (random.random(len(row)) * (last + 1)).astype(np.int64)
        at[random.random(len(row)) < 1 / 3] = 0
        where = self.rows.position[row]
        near = last / 2 + random.uniform(-0.25, 0.25, len(row)) * room
        at = np.where(where == POSITIONS.index('start'), 0, at)
        at = np.where(where == POSITIONS.index('end'), last, at)
        at = np.where(where == POSITIONS.index('middle'), near.astype(np.int64), at)
        focus = self.focused[row]
        # Now and then another window than the one that scored highest.
        at = np.where((focus >= 0) & (random.random(len(row)) < 0.85), focus, at)
        return np.clip(at, 0, last)

    def _lay_around(
        self,
        begin: np.ndarray,
        count: np.ndarray,
        row: np.ndarray,
        role: np.ndarray,
        room: np.ndarray,
        size: np.ndarray,
        composed: float,
        random: np.random.Generator,
    ) -> None:
        """Some short texts stand in a harmless one of somebody else: an attack may stand anywhere in a text."""
        carriers = row[self.rows.benign[row] & (self.rows.role[row] == 0) & (self.rows.count[row] >= 8)]
        lay = (size < room * 3 // 4) & (role == 0) & (random.random(len(row)) < composed)
        which = np.flatnonzero(lay)
        if len(carriers) == 0 or len(which) == 0:
            return
        carrier = random.choice(carriers, len(which))
        around = self.rows.count[carrier].astype(np.int64)
        free = room[which] - size[which]
        much = np.minimum(np.minimum(4 + (random.random(len(which)) * (free - 3)).astype(np.int64), free), around)
        before = (random.random(len(which)) * (much + 1)).astype(np.int64)
        at = self.rows.begin[carrier] + (random.random(len(which)) * (around - much + 1)).astype(np.int64)
        begin[which, 2], count[which, 2] = at, before
        begin[which, 4], count[which, 4] = at + before, much - before

    def groups(
        self, ways: list[Way], budget: int, random: np.random.Generator, hard: np.ndarray
    ) -> list[tuple[Samples, np.ndarray, int]]:
        """An epoch in groups of like lengths, each of one way, in random order: samples, which of them, the longest."""
        found: list[tuple[Samples, np.ndarray, int]] = []
        for way in ways:
            part = self.samples(way, random, hard)
            lengths = part.count.sum(1)
            order = np.argsort(lengths * random.uniform(0.95, 1.05, len(lengths)))
            found += [(part, order[low:high], longest) for low, high, longest in grouped(lengths[order], budget)]
        return [found[at] for at in random.permutation(len(found))]

    def batch(self, part: Samples, which: np.ndarray, longest: int, thin: bool) -> Batch:
        """Puts samples together on the device."""
        begin = torch.from_numpy(part.begin[which]).to(self.device, non_blocking=True)
        count = torch.from_numpy(part.count[which]).to(self.device, non_blocking=True)
        row = torch.from_numpy(part.row[which]).to(self.device, non_blocking=True)
        share = torch.from_numpy(part.share[which]).to(self.device, non_blocking=True)
        ends = count.cumsum(1)
        # A multiple of eight, which the fused attention wants.
        place = torch.arange(-(-longest // 8) * 8, device=self.device)
        segment = (place[None, :, None] >= ends[:, None, :]).sum(2).clamp(max=7)
        first = (ends - count).gather(1, segment)
        source = begin.gather(1, segment) + place[None] - first
        inside = place[None] < ends[:, -1:]
        ids = torch.where(inside, self.flat[source.clamp(0, len(self.flat) - 1)].long(), PAD)
        if thin:
            words = (segment >= 2) & (segment <= 4) & (ends[:, -1:] >= 15)
            rare = torch.rand(len(ids), 1, device=self.device) < THINNED
            ids = torch.where(words & rare & (torch.rand(ids.shape, device=self.device) < LEFT_OUT), PAD, ids)
        return Batch(part.branch, ids, self.value[row], self.weight[row] * share[:, None])

    def windows(self, rows: np.ndarray, role: int | None, most: int) -> tuple[Samples, np.ndarray]:
        """All windows of rows, up to `most` each, in order of rows, and where in its text each begins.

        `Samples.row` is the place in `rows`. :param role: who is told to speak, whoever the row says
        """
        c = self.rows
        guard = c.guard_count[rows]
        room = self.length - MARKS - np.where(guard > 0, guard + 1, 0)
        whole = c.count[rows].astype(np.int64)
        last = np.maximum(whole - room, 0)
        wanted = np.where(last > 0, np.minimum(-(-last // np.maximum(1, room * 3 // 4)) + 1, most), 1)
        which = np.repeat(np.arange(len(rows)), wanted)
        number = np.arange(len(which)) - np.repeat(np.cumsum(wanted) - wanted, wanted)
        at = np.rint(number * last[which] / np.maximum(wanted[which] - 1, 1)).astype(np.int64)
        row = rows[which]
        speaker = c.role[row] if role is None else np.full(len(which), role)
        begin, count = self._framed(row, speaker, at, np.minimum(whole, room)[which])
        return Samples(MAIN, which, np.ones(len(which), np.float32), begin, count), at


def grouped(lengths: np.ndarray, budget: int) -> list[tuple[int, int, int]]:
    """Runs of rows in order of length: (first, end, longest) each, `budget` pieces with their padding."""
    found, low, longest = [], 0, 0
    for i, length in enumerate(lengths.tolist()):
        if i > low and max(longest, length) * (i + 1 - low) > budget:
            found.append((low, i, longest))
            low, longest = i, 0
        longest = max(longest, length)
    if len(lengths) > low:
        found.append((low, len(lengths), longest))
    return found
