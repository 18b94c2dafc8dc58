"""The vocabulary: which pieces of the base are kept, and the tokenizer that training and serving share.

The base cuts texts of about a hundred languages into 250,000 pieces. Kept are those that occur in the rows, and of the
rest the most frequent, by the base's own log-probabilities. What a piece that went would have covered is cut into
smaller ones, so that nothing becomes unknown. The tokenizer is written as a `tokenizer.json` that says in plain steps
what it does, since the libraries for Python and JavaScript read the base's compiled character table differently.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from .e5pack import Pieces
from .rows import ROLES

START, PAD, END, UNKNOWN = 0, 1, 2, 3
# Control characters do not survive normalisation, so that no text can spell these.
SPECIAL = ('\x01start', '\x01pad', '\x01end', '\x01unknown', *(f'\x01{role}' for role in ROLES))
ROLE_ID = {role: 4 + number for number, role in enumerate(ROLES)}
# The base reads the end of a line as a space. Lines tell documents, logs and code from speech: they get a piece.
LINE = '▁↵'
LINE_SCORE = -4.0

NORMALISERS = (
    ('[\\x00-\\x08\\x0e-\\x1f\\x7f\\x8f\\x9f]', ''),
    ('[ \\t\\f\\u00a0\\r]*\\n[\\s\\u200b-\\u200f\\ufeff]*', ' ↵ '),
    ('[\\s\\u200b-\\u200f\\u2028\\u2029\\u2581\\ufeff\\ufffd]', ' '),
    None,  # NFKC stands here
    (' +', ' '),
)


def tokenizer_json(texts: list[str], scores: list[float]) -> str:
    """A tokenizer over these pieces, the special ones first."""
    steps: list[dict[str, object]] = []
    for step in NORMALISERS:
        if step is None:
            steps.append({'type': 'NFKC'})
        else:
            steps.append({'type': 'Replace', 'pattern': {'Regex': step[0]}, 'content': step[1]})
    steps.append({'type': 'Strip', 'strip_left': True, 'strip_right': True})
    return json.dumps(
        {
            'version': '1.0',
            'truncation': None,
            'padding': None,
            'added_tokens': [],
            'normalizer': {'type': 'Sequence', 'normalizers': steps},
            'pre_tokenizer': {'type': 'Metaspace', 'replacement': '▁', 'prepend_scheme': 'always', 'split': True},
            'post_processor': None,
            'decoder': {'type': 'Metaspace', 'replacement': '▁', 'prepend_scheme': 'always', 'split': True},
            'model': {
                'type': 'Unigram',
                'unk_id': UNKNOWN,
                'byte_fallback': False,
                'vocab': [[t, round(s, 4)] for t, s in zip(texts, scores, strict=True)],
            },
        },
        ensure_ascii=False,
    )


def full_tokenizer(pieces: Pieces) -> Tokenizer:
    """All pieces of the base, for counting which are used."""
    kept = [i for i in range(4, len(pieces.texts)) if pieces.texts[i] != '<mask>']
    return Tokenizer.from_str(tokenizer_json(*_listed(pieces, kept)))


def _listed(pieces: Pieces, kept: Iterable[int]) -> tuple[list[str], list[float]]:
    texts, scores = [*SPECIAL, LINE], [0.0] * len(SPECIAL) + [LINE_SCORE]
    for i in kept:
        if pieces.texts[i] != LINE:
            texts.append(pieces.texts[i])
            scores.append(float(pieces.scores[i]))
    return texts, scores


def count_rows(tokenizer: Tokenizer, texts: list[str], most: int = 3000) -> np.ndarray:
    """In how many texts each piece occurs, of the first `most` characters of each."""
    seen = np.zeros(tokenizer.get_vocab_size(), np.int64)
    for at in range(0, len(texts), 2000):
        for encoded in tokenizer.encode_batch([t[:most] for t in texts[at : at + 2000]], add_special_tokens=False):
            seen[np.unique(np.array(encoded.ids, np.int64))] += 1
    return seen


def choose(pieces: Pieces, seen: np.ndarray, size: int, least: int = 3) -> list[int]:
    """The numbers, in the base, of the pieces to keep: those in `least` rows, then the most probable.

    :param seen: by number in `full_tokenizer`
    """
    number = {text: i for i, text in enumerate(pieces.texts)}
    texts, _ = _listed(pieces, (i for i in range(4, len(pieces.texts)) if pieces.texts[i] != '<mask>'))
    rank = {number[t]: int(n) for t, n in zip(texts, seen, strict=True) if t in number}
    candidates = [i for i in rank if len(pieces.texts[i]) > 0]
    used = sorted((i for i in candidates if rank[i] >= least), key=lambda i: -rank[i])[: size - len(SPECIAL) - 1]
    taken = set(used)
    rest = sorted((i for i in candidates if i not in taken), key=lambda i: -float(pieces.scores[i]))
    return sorted(used + rest[: max(0, size - len(SPECIAL) - 1 - len(used))])


def write(path: Path, pieces: Pieces, kept: list[int]) -> None:
    """Writes the tokenizer's file."""
    path.write_text(tokenizer_json(*_listed(pieces, kept)))


def table(pieces: Pieces, word: np.ndarray, kept: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The embeddings of the kept pieces, and those of the special ones, which training may change.

    :returns: (pieces, hidden) without the special ones; (special ones and `LINE`, hidden)
    """
    number = {text: i for i, text in enumerate(pieces.texts)}
    base = [word[number[t]] for t in ('<s>', '<pad>', '</s>', '<unk>')]
    said = {'user': '▁query', 'assistant': '▁passage', 'tool': '▁document', 'system': '▁context'}
    roles = [word[number.get(said[role], number['▁'])] for role in ROLES]
    line = (word[number['.']] + word[number['▁']]) / 2
    return word[[i for i in kept if pieces.texts[i] != LINE]], np.stack([*base, *roles, line])
