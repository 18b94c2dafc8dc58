"""What travels to the machine with the accelerator: rows as numbers, and the base's weights, in one folder of some 50 MB.

`rows.xz` holds all pieces end to end, `rows.npz` what is known of each row, `base.npz` the base's matrices in their 4-bit blocks.
No text travels, and nothing of the package but `encoder` has to be there.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..apart import aside, beside_guards
from ..base import base_file
from ..dataset import Dataset, load
from ..e5pack import Pack, Pieces, read_pack, unpack_rows
from ..lanes import LANES
from ..roles import BY_SOURCE, SHARES
from ..rows import ROLES
from ..tools import spoken_by_tools_rows
from ..vocabulary import table
from ..windows import GUARD

# Pieces of a text that travel.
LONGEST = 1000
# Ranks beyond 16 bits are listed apart.
ESCAPE = 65_535
# By number: how often a harmless row is told as by user, assistant, tool, system. The last are told as their row says.
TELLINGS = (*SHARES, *BY_SOURCE)
POSITIONS = ('', 'start', 'middle', 'end')
FILTERS = [{'id': lzma.FILTER_LZMA2, 'preset': 3, 'dict_size': 1 << 27, 'lp': 1, 'pb': 1}]


@dataclass
class Carried:
    """Rows as numbers. `flat`: pieces of all texts, then of all guards; the others by row, spans as (begin, count) in `flat`."""

    flat: np.ndarray
    begin: np.ndarray
    count: np.ndarray
    guard_begin: np.ndarray
    guard_count: np.ndarray
    value: np.ndarray
    weight: np.ndarray
    fold: np.ndarray
    source: np.ndarray
    role: np.ndarray
    telling: np.ndarray
    position: np.ndarray
    aside: np.ndarray
    benign: np.ndarray
    tools: np.ndarray
    sources: list[str]


def carry(work: Path, out: Path, seed: int = 1) -> None:
    """Writes the folder.

    :param work: where `prepare` left its rows
    """
    data = load(work)
    out.mkdir(parents=True, exist_ok=True)
    spans = [data.pieces(i)[:LONGEST] for i in range(len(data))]
    guards = [data.guard(i)[:GUARD] for i in range(len(data))]
    order = sorted(range(len(data)), key=lambda i: (data.rows[i].source, i))
    told: dict[bytes, int] = {}
    for guard in guards:
        told.setdefault(guard.tobytes(), len(told))
    distinct = [np.frombuffer(raw, np.int32) for raw in told]
    _write_flat(out, np.concatenate([*(spans[i] for i in order), *distinct]))
    rows = data.rows
    names = sorted({row.source for row in rows})
    number = {name: i for i, name in enumerate(names)}
    tools = np.zeros(len(data), bool)
    tools[spoken_by_tools_rows(data, seed)] = True
    count = np.array([len(span) for span in spans], np.int32)
    begin = np.zeros(len(data), np.int64)
    begin[order] = np.cumsum([0, *(count[i] for i in order[:-1])])
    lengths = np.array([len(guard) for guard in distinct], np.int64)
    places = count.sum() + np.cumsum([0, *lengths[:-1]])
    which = np.array([told[guard.tobytes()] for guard in guards])
    np.savez_compressed(
        out / 'rows.npz',
        begin=begin,
        count=count,
        guard_begin=places[which],
        guard_count=lengths[which].astype(np.int32),
        value=data.value,
        weight=data.weight.astype(np.float16),
        fold=data.fold,
        source=np.array([number[row.source] for row in rows], np.int16),
        role=np.array([ROLES.index(row.role) for row in rows], np.int8),
        telling=np.array([_telling(data, i) for i in range(len(data))], np.int8),
        position=np.array([POSITIONS.index(row.position) for row in rows], np.int8),
        aside=aside(data),
        benign=np.array([row.benign for row in rows]),
        tools=tools & ~beside_guards(data),
    )
    (out / 'rows.json').write_text(json.dumps({'sources': names, 'lanes': list(LANES)}))
    _write_base(work, out)


def _telling(data: Dataset, i: int) -> int:
    row = data.rows[i]
    if not row.benign or row.role != 'user' or row.guard:
        return -1
    return TELLINGS.index(row.source if row.source in BY_SOURCE else row.kind)


def _write_flat(out: Path, flat: np.ndarray) -> None:
    by_rank = np.argsort(-np.bincount(flat), kind='stable').astype(np.int32)
    rank = np.empty(len(by_rank), np.int64)
    rank[by_rank] = np.arange(len(by_rank))
    ranks = rank[flat]
    beyond = np.flatnonzero(ranks >= ESCAPE)
    data = np.minimum(ranks, ESCAPE).astype('<u2').tobytes()
    (out / 'rows.xz').write_bytes(lzma.compress(data, format=lzma.FORMAT_XZ, filters=FILTERS))
    np.savez_compressed(out / 'ranks.npz', by_rank=by_rank, beyond=beyond, at_beyond=flat[beyond])


def read_rows(folder: Path) -> Carried:
    """Reads what `carry` wrote of the rows."""
    ranks = np.load(folder / 'ranks.npz')
    flat = np.frombuffer(lzma.decompress((folder / 'rows.xz').read_bytes()), '<u2').astype(np.int64)
    known = np.minimum(flat, len(ranks['by_rank']) - 1)
    flat = ranks['by_rank'][known]
    flat[ranks['beyond']] = ranks['at_beyond']
    found = np.load(folder / 'rows.npz')
    sources = json.loads((folder / 'rows.json').read_text())['sources']
    return Carried(flat=flat, sources=sources, **{name: found[name] for name in found.files})


def _write_base(work: Path, out: Path) -> None:
    """The layers in their blocks as they came, and the embeddings of the kept pieces, whose blocks are whole rows."""
    pack = read_pack(base_file())
    raw = pack.blocks
    kept = [int(number) for number in np.load(work / 'kept.npy')]
    # Which rows `table` keeps: it is asked with numbers in the place of embeddings.
    numbers = np.arange(len(pack.pieces.texts))
    words, _ = table(pack.pieces, numbers[:, None], kept)
    _, special = table(pack.pieces, pack.tensors['emb.word'], kept)
    blocks = np.frombuffer(raw['emb.word'], np.uint8).reshape(len(pack.tensors['emb.word']), -1)[words[:, 0]]
    told: dict[str, np.ndarray] = {'emb.word': blocks, 'special': special}
    for name, tensor in pack.tensors.items():
        if name != 'emb.word':
            told[name] = np.frombuffer(raw[name], np.uint8) if name in raw else tensor
            told[f'{name}:shape'] = np.array(tensor.shape)
    sizes = np.array([pack.hidden, pack.layers, pack.heads, pack.inner, pack.positions])
    np.savez(out / 'base.npz', sizes=sizes, epsilon=np.array(pack.epsilon), **told)


def read_base(folder: Path) -> tuple[Pack, np.ndarray, np.ndarray]:
    """:returns: the base without its pieces; embeddings of the kept pieces; of the special ones"""
    found = np.load(folder / 'base.npz')
    hidden, layers, heads, inner, positions = (int(size) for size in found['sizes'])
    tensors = {}
    for name in found.files:
        if f'{name}:shape' in found.files:
            data = found[name]
            tensors[name] = (unpack_rows(data.tobytes()) if data.dtype == np.uint8 else data).reshape(found[f'{name}:shape'])
    words = unpack_rows(found['emb.word'].tobytes()).reshape(-1, hidden)
    pieces = Pieces([], np.zeros(0), {}, 3)
    return Pack(hidden, layers, heads, inner, positions, float(found['epsilon']), pieces, tensors), words, found['special']
