"""What is laid out by whole arrays on a device is what is laid out row by row here."""

from __future__ import annotations

import numpy as np
import torch

from encoder import export, windows
from encoder.device import carried, laid, results
from encoder.e5pack import Pack, Pieces
from encoder.lanes import LANES
from encoder.model import BRANCHES, Encoder, Settings
from encoder.rows import ROLES

SIZES = {'user': 40, 'tool': 300, 'long': 500, 'beside': 20}


def some_rows() -> carried.Carried:
    """Four sources of 30 rows each: short ones of users, long ones of tools, long harmless ones, some beside a guard."""
    counts = np.array([size for size in SIZES.values() for _ in range(30)], np.int32)
    size = int(counts.sum())
    flat = np.concatenate([np.arange(100, 100 + size), np.arange(50_000, 50_010)]).astype(np.int32)
    source = np.repeat(np.arange(4, dtype=np.int16), 30)
    guarded = source == 3
    value = np.zeros((120, len(LANES)), np.int8)
    return carried.Carried(
        flat=flat,
        begin=np.concatenate([[0], np.cumsum(counts[:-1])]).astype(np.int64),
        count=counts,
        guard_begin=np.full(120, size, np.int64),
        guard_count=np.where(guarded, 10, 0).astype(np.int32),
        value=value,
        weight=np.ones((120, len(LANES)), np.float16),
        fold=np.zeros(120, np.int8),
        source=source,
        role=np.where(source == 1, ROLES.index('tool'), 0).astype(np.int8),
        telling=np.full(120, -1, np.int8),
        position=np.zeros(120, np.int8),
        aside=np.zeros(120, bool),
        benign=np.ones(120, bool),
        tools=source == 1,
        sources=list(SIZES),
    )


def test_windows_of_a_text_are_those_that_are_read_here() -> None:
    rows = some_rows()
    desk = laid.Desk(rows, 'cpu')
    for row in (0, 35, 70, 100):
        part, at = desk.windows(np.array([row]), None, 6)
        lengths = part.count.sum(1)
        ids = desk.batch(part, np.arange(len(at)), int(lengths.max()), thin=False).ids.numpy()
        text = rows.flat[rows.begin[row] : rows.begin[row] + rows.count[row]]
        guard = rows.flat[rows.guard_begin[row] :][: rows.guard_count[row]]
        room = windows.room_beside(guard, desk.length)
        starts = windows.starts(len(text), room, 6)
        assert at.tolist() == starts
        for given, length, start in zip(ids, lengths, starts, strict=True):
            wanted = windows.framed(windows.window(text, room, start), ROLES[rows.role[row]], guard)
            assert given[:length].tolist() == wanted.tolist()


def test_a_text_stays_whole_in_what_is_laid_around_it() -> None:
    rows = some_rows()
    desk = laid.Desk(rows, 'cpu')
    way = laid.Way(laid.MAIN, np.flatnonzero(rows.source == 0), 100)
    part = desk.samples(way, np.random.default_rng(1), np.zeros(0, np.int64), composed=1.0)
    assert (part.count.sum(1) <= desk.length).all()
    assert (part.count[:, 2] + part.count[:, 4] > 0).any()
    ids = desk.batch(part, np.arange(len(part.row)), desk.length, thin=False).ids.numpy()
    for given, row in zip(ids, part.row, strict=True):
        text = rows.flat[rows.begin[row] : rows.begin[row] + rows.count[row]].tolist()
        told = given.tolist()
        assert any(told[at : at + len(text)] == text for at in range(len(told)))


def test_small_sources_count_more_and_large_ones_are_cut() -> None:
    desk = laid.Desk(some_rows(), 'cpu')
    way = laid.Way(laid.MAIN, np.arange(120), 10, ('tool',))
    row, share = desk.chosen(way, np.random.default_rng(1), np.array([3]))
    drawn = np.bincount(desk.rows.source[row], minlength=4)
    assert drawn.tolist() == [11, 30, 10, 10]
    assert share[row == 3] == share[row == 40].max() * 2


def test_weights_come_back_as_they_would_ship() -> None:
    random = np.random.default_rng(2)

    def of(*shape: int) -> np.ndarray:
        return random.normal(size=shape).astype(np.float32)

    tensors = {'emb.pos': of(40, 32), 'emb.type': of(2, 32), 'emb.ln.w': of(32), 'emb.ln.b': of(32)}
    for i in range(12):
        for name in ('q', 'k', 'v', 'ao'):
            tensors[f'l{i}.{name}.w'], tensors[f'l{i}.{name}.b'] = of(32, 32), of(32)
        tensors[f'l{i}.fi.w'], tensors[f'l{i}.fi.b'] = of(64, 32), of(64)
        tensors[f'l{i}.fo.w'], tensors[f'l{i}.fo.b'] = of(32, 64), of(32)
        for name in ('aln', 'oln'):
            tensors[f'l{i}.{name}.w'], tensors[f'l{i}.{name}.b'] = of(32), of(32)
    pack = Pack(32, 12, 4, 64, 40, 1e-12, Pieces([], np.zeros(0), {}, 3), tensors)
    model = Encoder(pack, of(20, 32), of(9, 32), Settings(branches=BRANCHES))
    packed = results.packed(model)['tools']
    for name, value in packed.items():
        if value.dtype == np.int8:
            ours = model.state_dict()[name]
            back = torch.from_numpy(value.astype(np.float32) * packed[f'{name}:scale'][:, None])
            for one, other in zip(export.quantise_columns(ours.numpy().T), export.quantise_columns(back.numpy().T), strict=True):
                assert np.allclose(one, other)


def test_a_source_that_is_in_whole_counts_in_full() -> None:
    desk = laid.Desk(some_rows(), 'cpu')
    desk.rows.source[:] = 1
    random = np.random.default_rng(1)
    for whole, least in (((), 0.5), (('tool',), 1.0)):
        few = laid.Way(laid.MAIN, np.tile(np.arange(120), 100), 10_000, whole)
        assert desk.chosen(few, random, np.zeros(0, np.int64))[1].min() == np.float32(least)
