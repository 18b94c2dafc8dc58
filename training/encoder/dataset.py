"""All rows as numbers: pieces, roles, targets, folds.

Made once from the corpora, kept in a work folder outside the checkout.
"""

from __future__ import annotations

import json
import pickle
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from . import vocabulary
from .answered import answered_rows, written_answers
from .asked import chat_rows, written_rows
from .composed import composed_rows, folds_of
from .e5pack import read_pack
from .guarded import guard_sentences, guarded_rows
from .lanes import LANES, targets
from .legible import legible
from .pairs import pair_rows, prompts
from .relatives import deal, made_here
from .rows import Row, read_corpus
from .shipped import kept_pieces

# A text is read up to this many characters.
LONGEST = 12_000


@dataclass
class Dataset:
    """Rows and, by row: pieces (`ids[start[i]:start[i + 1]]`), targets, weights of the targets, and fold (-1: none)."""

    rows: list[Row]
    ids: np.ndarray
    start: np.ndarray
    value: np.ndarray
    weight: np.ndarray
    fold: np.ndarray
    guards: np.ndarray
    guard_start: np.ndarray

    def pieces(self, row: int) -> np.ndarray:
        """The pieces of a row, without marks."""
        return self.ids[self.start[row] : self.start[row + 1]]

    def guard(self, row: int) -> np.ndarray:
        """The pieces of what the operator's prompt keeps; none for most rows."""
        return self.guards[self.guard_start[row] : self.guard_start[row + 1]]

    def __len__(self) -> int:
        return len(self.rows)


def encode(tokenizer: Tokenizer, told: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """:returns: the pieces of all texts end to end, and where each begins"""
    parts: list[np.ndarray] = []
    for at in range(0, len(told), 2000):
        texts = [legible(text[:LONGEST]) for text in told[at : at + 2000]]
        parts += [np.array(e.ids, np.int32) for e in tokenizer.encode_batch(texts, add_special_tokens=False)]
    start = np.zeros(len(told) + 1, np.int64)
    start[1:] = np.cumsum([len(part) for part in parts])
    return np.concatenate(parts), start


def dataset(tokenizer: Tokenizer, rows: list[Row], folds: dict[str, int]) -> Dataset:
    """:param folds: of each source; others are in none"""
    ids, start = encode(tokenizer, [row.text for row in rows])
    guards, guard_start = encode(tokenizer, [row.guard for row in rows])
    pairs = [targets(row) for row in rows]
    value = np.stack([v for v, _ in pairs])
    weight = np.stack([w for _, w in pairs])
    fold = np.array([folds.get(row.origin, -1) for row in rows], np.int8)
    return Dataset(rows, ids, start, value, weight, fold, guards, guard_start)


def prepare(
    work: Path, data: Path, base: Path, made: list[Row], size: int, seed: int = 1, start: Path | None = None
) -> None:
    """Reads the corpora, chooses the vocabulary, leaves `tokenizer.json`, `kept.npy`, `rows.pickle`, `prepared.json`.

    :param data: the folder that holds `train/`
    :param base: the file of weights (see `e5pack`)
    :param made: rows of the grammars and of installed packages
    :param size: pieces to keep
    :param start: a folder with an exported encoder that training goes on from: its vocabulary is kept
    """
    work.mkdir(parents=True, exist_ok=True)
    corpus = read_corpus(data / 'train')
    folds = deal(corpus.rows)
    laid = composed_rows(corpus.rows, made, folds, seed) + guarded_rows(corpus.rows + made, folds, seed)
    pack = read_pack(base)
    full = vocabulary.full_tokenizer(pack.pieces)

    def pieces(text: str) -> int:
        return len(full.encode(text, add_special_tokens=False).ids)

    written = written_rows()
    answers = answered_rows(corpus.rows + written, folds, seed)
    found = prompts(work)
    written += written_answers() + pair_rows(found, corpus.rows, guard_sentences(seed), pieces, seed) + chat_rows(found)
    rows = distinct(corpus.rows + made + laid + written + answers)
    seen = vocabulary.count_rows(full, [row.text for row in rows])
    if start is None:
        kept = vocabulary.choose(pack.pieces, seen, size)
    else:
        kept = kept_pieces(start / 'encoder.tokenizer.json', pack.pieces)
    vocabulary.write(work / 'tokenizer.json', pack.pieces, kept)
    np.save(work / 'kept.npy', np.array(kept, np.int32))
    tokenizer = Tokenizer.from_file(str(work / 'tokenizer.json'))
    with (work / 'rows.pickle').open('wb') as file:
        pickle.dump(dataset(tokenizer, rows, {**folds, **folds_of([row for row in laid + answers if made_here(row.source)])}), file)
    counts = Counter(row.source for row in rows)
    about = {
        'data_sha256': corpus.sha256,
        'sources': {s: {'license': corpus.licences[s], 'rows': counts[s], 'fold': folds[s]} for s in sorted(folds)},
        'made': {s: n for s, n in sorted(counts.items()) if s not in folds},
        'lanes': LANES,
        'pieces': tokenizer.get_vocab_size(),
        'pieces_seen_in_3_rows': int((seen >= 3).sum()),
    }
    (work / 'prepared.json').write_text(json.dumps(about, indent=2))


def load(work: Path) -> Dataset:
    """The dataset that `prepare` left in a work folder."""
    with (work / 'rows.pickle').open('rb') as file:
        found: Dataset = pickle.load(file)
    return found


def distinct(rows: list[Row]) -> list[Row]:
    """No text twice for one role and guard: the first row stays."""
    seen: set[tuple[str, str, str]] = set()
    kept: list[Row] = []
    for row in rows:
        key = (row.role, row.text, row.guard)
        if key not in seen:
            seen.add(key)
            kept.append(row)
    return kept
