"""The reader of names: three layers of the base over the embeddings that the encoder brings, and a tag for each piece.

The encoder's own states say what a text is about and forget what its pieces are: tags read off its last layer found 17 % of
names, off its fourth 29 %. Embeddings of pieces stay as the base has them whatever is trained, so that this reader goes
with any weights of the encoder; only the end of a line is a piece of the encoder's own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from .base import base_file
from .e5pack import read_pack
from .model import Encoder, Settings, half
from .name_rows import KINDS, TAGS, NameRow
from .vocabulary import END, PAD, START

LAYERS = (0, 2, 4)
# Pieces of a window in serving, without its marks.
MOST = 125
# Pieces with no word of the vocabulary at hand.
IGNORED = -100


class NameReader(nn.Module):
    """Pieces in, logits of their tags out. The embeddings and the first layer stay as the base has them."""

    def __init__(self, words: np.ndarray, special: np.ndarray) -> None:
        super().__init__()
        pack = read_pack(base_file())
        self.encoder = Encoder(pack, words, special, Settings(LAYERS))
        self.head = nn.Linear(pack.hidden, len(TAGS))
        frozen = (self.encoder.special, self.encoder.places, *self.encoder.norm.parameters())
        for parameter in (*frozen, *self.encoder.layers[0].parameters(), *self.encoder.head.parameters()):
            parameter.requires_grad_(False)

    def forward(self, ids: Tensor) -> Tensor:
        """:param ids: (rows, pieces) with start and end, padded. :returns: (rows, pieces, tags)"""
        return self.head(self.encoder.states(ids)[-1].float())


def tagged(rows: list[NameRow], tokenizer: Tokenizer) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pieces between their marks, and a tag for each (`IGNORED` for marks)."""
    found = []
    for row, cut in zip(rows, tokenizer.encode_batch([r.text for r in rows], add_special_tokens=False), strict=True):
        tags = np.zeros(min(MOST, len(cut.ids)), np.int64)
        starts = np.array([start for start, _ in cut.offsets[:MOST]], np.int64)
        for label in row.labels:
            inside = False
            # The piece before may begin in the space before the name.
            for i in range(max(0, int(np.searchsorted(starts, label.start, 'right')) - 1), len(tags)):
                start, end = cut.offsets[i]
                if start >= label.end:
                    break
                if (min(end, label.end) - max(start, label.start)) * 2 < end - start or end <= label.start:
                    continue
                tags[i] = 1 + 2 * KINDS.index(label.kind) + inside
                inside = True
        ids = np.array([START, *cut.ids[:MOST], END], np.int64)
        found.append((ids, np.concatenate([[IGNORED], tags, [IGNORED]])))
    return found


def batches(rows: list[tuple[np.ndarray, np.ndarray]], pieces: int, random: np.random.Generator) -> list[np.ndarray]:
    """Indexes of rows of about one length, so many pieces together, in random order."""
    lengths = np.array([len(ids) for ids, _ in rows])
    order = np.argsort(lengths + random.random(len(lengths)) * 8)
    found, at = [], 0
    while at < len(order):
        count = max(1, pieces // int(lengths[order[min(len(order) - 1, at + pieces // int(lengths[order[at]]))]]))
        found.append(order[at : at + count])
        at += count
    random.shuffle(found)
    return found


def padded(rows: list[tuple[np.ndarray, np.ndarray]], which: np.ndarray) -> tuple[Tensor, Tensor]:
    """Rows beside one another: pieces, tags."""
    length = max(len(rows[i][0]) for i in which)
    ids = np.full((len(which), length), PAD, np.int64)
    tags = np.full((len(which), length), IGNORED, np.int64)
    for at, i in enumerate(which):
        ids[at, : len(rows[i][0])], tags[at, : len(rows[i][1])] = rows[i]
    return torch.from_numpy(ids), torch.from_numpy(tags)


def fit(
    reader: NameReader,
    rows: list[tuple[np.ndarray, np.ndarray]],
    minutes: float,
    seed: int,
    rate: float = 5e-4,
    pieces: int = 2048,
    save: Callable[[], None] | None = None,
) -> dict[str, float]:
    """One pass over the rows, or as far as the minutes go: the rate falls to its end within them.

    :param save: told now and then
    """
    random = np.random.default_rng(seed)
    trained = [p for p in reader.parameters() if p.requires_grad and p is not reader.encoder.words]
    optimiser = torch.optim.AdamW(trained, lr=rate, weight_decay=0.01)
    order = batches(rows, pieces, random)
    began = saved = time.monotonic()
    loss_sum, steps, done = 0.0, 0, 0
    for step, which in enumerate(order):
        spent = (time.monotonic() - began) / 60 / minutes
        way = max(step / len(order), spent)
        if way >= 1:
            break
        for group in optimiser.param_groups:
            group['lr'] = rate * min(1, way / 0.05 + 0.02) * max(0.02, 1 - way)
        ids, tags = padded(rows, which)
        with half():
            logits = reader(ids)
        loss = F.cross_entropy(logits.float().flatten(0, 1), tags.flatten(), ignore_index=IGNORED)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        loss_sum, steps, done = loss_sum + loss.item(), steps + 1, done + int((ids != PAD).sum())
        if step % 50 == 49:
            told = f'{done} pieces, {(time.monotonic() - began) / 60:.1f} min, loss {loss_sum / steps:.3f}'
            print(told, flush=True)
            loss_sum, steps = 0.0, 0
        if save is not None and time.monotonic() - saved > 120:
            saved = time.monotonic()
            save()
    return {'pieces': done, 'minutes': round((time.monotonic() - began) / 60, 1)}


def predict(reader: NameReader, rows: list[tuple[np.ndarray, np.ndarray]]) -> list[np.ndarray]:
    """Logits of each row's pieces, without its marks."""
    found: list[np.ndarray] = [np.zeros(0)] * len(rows)
    with torch.no_grad(), half():
        for which in batches(rows, 8192, np.random.default_rng(0)):
            logits = reader(padded(rows, which)[0]).float().numpy()
            for at, i in enumerate(which):
                found[i] = logits[at, 1 : len(rows[i][0]) - 1]
    return found


def load_reader(reader: NameReader, file: Path) -> None:
    """Goes on from what was learnt before."""
    own = reader.state_dict()
    own.update(torch.load(file, weights_only=False)['model'])
    reader.load_state_dict(own)


def save_reader(reader: NameReader, file: Path) -> None:
    """What was learnt, without the embeddings."""
    keep = {k: v for k, v in reader.state_dict().items() if not k.startswith('encoder.words')}
    torch.save({'layers': LAYERS, 'tags': TAGS, 'model': keep}, file)
