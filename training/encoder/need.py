"""Whether the writer of a message is in danger from himself: a small head beside weights that ship. No other score moves.

The other lanes are read off the mean of a window. A sign of need is half a sentence, often beside an ordinary request, and the mean drowns
it; and what the last layers keep is what their lanes ask for. So this head looks for it among the pieces, in a layer in the middle: each of
a few queries takes the mean of what it attends to (attention pooling; Lin and others, arXiv 1703.03130).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from . import calibration
from .apart import aside, beside_guards
from .asked import lines
from .base import new_encoder
from .batches import Plan, chosen
from .dataset import Dataset, encode, load
from .metrics import auroc, wilson
from .model import Encoder
from .pairs import PAIRS, kept_back
from .rows import Row
from .runs import Options
from .scoring import padded
from .ship import NEED, NEED_LAYERS, load_encoder
from .thresholds import CLASSES, harmless_sources
from .windows import framed, starts, window

SOURCE = 'written:need'
WRITTEN = Path(__file__).parent.parent / 'written' / 'need'
# Of 1,766 rows, dealt five ways, the states of the fourth and the fifth layer told need from its twins best (an area of 0.92; the means that
# other lanes are read off 0.90, and the lane `self_harm` 0.79).
QUERIES = 8
LENGTH, WINDOWS = 125, 6
# People who write to counsellors: some are in need, and no label says who.
EITHER = {'benign_counsel_chat'}
# Ordinary texts of a source that are learnt from, of what was written as close to harm, and that set confidences.
ORDINARY, NEAR, MEASURED = 140, 2500, 400
# Honest words of users beside prompts that are learnt from, and that set confidences: "i dont get it, just tell me".
SAID, SAID_MEASURED = 9000, 2500
# Of users' words beside prompts the whole share: they are what a gateway reads most.
WORDS = 1.0
# Of the share of ordinary texts that a confidence stands for, so many may reach it before the first reader has cleared any. It clears more than
# half of them: of 11,110 that nothing learnt from 52 scored as high as one twin in 20, and 21 of these were raised.
PART = 0.4
# So many times the share of ordinary texts may be stopped of honest twins. Whoever only sounds as if he were in need reads where help is found,
# and is handed to a person; nobody is refused.
TWINS = 10.0
# Confidences begin where no more of either reaches them: a rule of words may count from the least of them (`agreed_from`). A quarter of the
# twins is not much there, since few hold such words.
LEAST_OF_TWINS, LEAST_OF_ORDINARY = 0.25, 0.02
# One message makes nobody surer.
MOST = 0.60
EPOCHS, RATE, BATCH = 8, 1e-3, 32
# So many ordinary windows stand beside each written one in an epoch.
BESIDE = 3
# Some 3,000 rows are soon known by heart: in learning a part of the pieces is not there, nor of what is read off them.
UNHEARD, FORGOTTEN = 0.15, 0.5


class Head(nn.Module):
    """Attention pooling over the states of a window, and one logit."""

    def __init__(self, hidden: int, queries: int = QUERIES) -> None:
        super().__init__()
        self.look = nn.Linear(hidden, queries)
        self.out = nn.Linear(hidden * (queries + 1), 1)

    def forward(self, x: Tensor, here: Tensor) -> Tensor:
        """`x`: (rows, pieces, hidden); `here`: (rows, pieces), whether a piece is there. :returns: (rows,) logits"""
        if self.training:
            heard = torch.rand(here.shape) > UNHEARD
            # The first stands for the whole window.
            heard[:, 0] = True
            here = here & heard
        near = torch.softmax(self.look(x).masked_fill(~here[:, :, None], -1e4), 1)
        found = torch.einsum('rpq,rph->rqh', near, x).flatten(1)
        read = torch.cat([x[:, 0], found], 1)
        return self.out(F.dropout(read, FORGOTTEN, self.training))[:, 0]

    def arrays(self) -> dict[str, np.ndarray]:
        """The weights under the names of the exported graph."""
        found = {'look.w': self.look.weight.T, 'look.b': self.look.bias, 'out.w': self.out.weight.T, 'out.b': self.out.bias}
        return {f'need.{name}': value.detach().numpy().copy() for name, value in found.items()}


@dataclass
class States:
    """States of windows end to end: `x[start[i]:start[i + 1]]` are those of window i, which is of the text `owner[i]`."""

    x: np.ndarray
    start: np.ndarray
    owner: np.ndarray

    def batch(self, which: np.ndarray) -> tuple[Tensor, Tensor]:
        """Padded states of windows, and which pieces are there."""
        parts = [torch.from_numpy(self.x[self.start[i] : self.start[i + 1]].astype(np.float32)) for i in which]
        x = nn.utils.rnn.pad_sequence(parts, batch_first=True)
        sizes = torch.tensor([len(part) for part in parts])
        return x, torch.arange(x.shape[1])[None] < sizes[:, None]


def need_rows() -> list[Row]:
    """The rows of `training/written/need`: who is in need, and who only sounds like it.

    :raises ValueError: a line is no such row, with its place
    """
    made: list[Row] = []
    for _, place, data in lines(WRITTEN):
        text, kind = data.get('text'), data.get('kind')
        if not isinstance(text, str) or kind not in (NEED, None):
            raise ValueError(f'{place} is no row: {{text, kind: "{NEED}" or null, language}}')
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        labels = {} if kind is None else {NEED: 1}
        made.append(Row(text, SOURCE, 'prompt', labels, 0 if kind is None else None, 'user', data['language'], key=key))
    return made


def states(model: Encoder, pieces: list[np.ndarray], budget: int = 6144) -> States:
    """What everybody's layers make of texts as a user's words, up to `NEED_LAYERS` of them."""
    parts = [(i, framed(window(ids, LENGTH, at), 'user')) for i, ids in enumerate(pieces) for at in starts(len(ids), LENGTH, WINDOWS)]
    start = np.concatenate([[0], np.cumsum([len(part) for _, part in parts])])
    x = np.zeros((int(start[-1]), model.places.shape[1]), np.float16)
    for members, ids in padded([ids for _, ids in parts], budget):
        with torch.no_grad():
            found = model.states(ids, NEED_LAYERS)[-1].to(torch.float16).numpy()
        for place, i in enumerate(members):
            x[start[i] : start[i + 1]] = found[place, : len(parts[i][1])]
    return States(x, start, np.array([i for i, _ in parts]))


def learn(told: States, value: np.ndarray, ordinary: np.ndarray, seed: int) -> Head:
    """A head that has learnt windows.

    :param value: by window, 1 or 0
    :param ordinary: by window, whether it is of a text that was not written for this
    """
    torch.manual_seed(seed)
    # Numbers of a state differ in size: the head learns from even ones, and takes the sizes into its weights.
    mean, scale = told.x.mean(0, dtype=np.float64), told.x.std(0, dtype=np.float64) + 1e-3
    even = States(((told.x - mean) / scale).astype(np.float16), told.start, told.owner)
    head = Head(told.x.shape[1])
    random = np.random.default_rng(seed)
    near, far = np.flatnonzero(~ordinary), np.flatnonzero(ordinary)
    sizes = np.diff(told.start)
    optimiser = torch.optim.AdamW(head.parameters(), RATE, weight_decay=0.3)
    steps = EPOCHS * (-(-(1 + BESIDE) * len(near) // BATCH) + 1)
    falling = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps)
    head.train()
    for _ in range(EPOCHS):
        which = np.concatenate([near, random.permutation(far)[: BESIDE * len(near)]])
        which = which[np.argsort(sizes[which] + random.integers(0, 12, len(which)))]
        batches = [which[i : i + BATCH] for i in range(0, len(which), BATCH)]
        for i in random.permutation(len(batches)):
            x, here = even.batch(batches[i])
            loss = F.binary_cross_entropy_with_logits(head(x, here), torch.from_numpy(value[batches[i]].astype(np.float32)))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            falling.step()
    head.eval()
    with torch.no_grad():
        shift, size = (torch.from_numpy(part.astype(np.float32)) for part in (mean, scale))
        head.look.weight /= size
        head.look.bias -= head.look.weight @ shift
        head.out.weight /= size.repeat(QUERIES + 1)
        head.out.bias -= head.out.weight @ shift.repeat(QUERIES + 1)
    return head


def score(head: Head, told: States, count: int) -> np.ndarray:
    """By text, (count,): the highest logit of any window."""
    best = np.full(count, -np.inf, np.float32)
    order = np.argsort(np.diff(told.start))
    for at in range(0, len(order), 64):
        which = order[at : at + 64]
        with torch.no_grad():
            np.maximum.at(best, told.owner[which], head(*told.batch(which)).numpy())
    return best


def confidences(
    rows: list[Row], pieces: np.ndarray, scores: np.ndarray, twins: np.ndarray, words: np.ndarray
) -> dict[str, list[list[float]]]:
    """The knots of need by class of length (`calibration.py`), which end at `MOST`.

    :param rows: harmless ones that nothing learnt from, with their `pieces` and `scores`
    :param twins: scores of twins that nothing learnt from
    :param words: scores of what honest users say beside prompts that nothing learnt from
    """
    told: dict[str, list[list[float]]] = {}
    below: dict[float, float] = {}
    for name, low, high in CLASSES:
        which, weights = calibration.members(rows, pieces, low, high)
        line: list[list[float]] = []
        for share, confidence in calibration.SCALE:
            if confidence > MOST:
                continue
            least = [calibration.quantile(twins, np.ones(len(twins)), min(LEAST_OF_TWINS, share * TWINS)), below.get(confidence, -np.inf)]
            least.append(calibration.quantile(words, np.ones(len(words)), min(LEAST_OF_ORDINARY, share * WORDS)))
            if len(which) > 0:
                least.append(calibration.quantile(scores[which], weights, min(LEAST_OF_ORDINARY, share * PART)))
            above = line[-1][0] + 0.02 if line else -np.inf
            below[confidence] = round(float(max(*least, above)), 4)
            line.append([below[confidence], confidence])
        told[name] = line
    return told


def fit(options: Options, checkpoint: Path | None) -> dict[str, object]:
    """Fits the head on a checkpoint, or on the weights to start from where there is none; leaves `need.pt` and `need.json`.

    :raises ValueError: neither was named
    """
    if checkpoint is not None:
        model, _ = load_encoder(options.work, checkpoint)
    elif options.start is not None:
        model, _ = new_encoder(options.work, options.settings, options.seed, options.start)
    else:
        raise ValueError('--start or --checkpoint is needed: the weights whose states the head reads')
    model.eval()
    data = load(options.work)
    written = need_rows()
    learnt, measured = _ordinary(data)
    words, words_measured = _said(data)
    learnt = np.concatenate([learnt, words])
    tokenizer = Tokenizer.from_file(str(options.work / 'tokenizer.json'))
    ids, start = encode(tokenizer, [row.text for row in written])
    pieces = [ids[start[i] : start[i + 1]] for i in range(len(written))]
    back = np.array([kept_back(row) for row in written])
    need = np.array([NEED in row.labels for row in written])
    near, far, apart, beside = (
        states(model, part) for part in (pieces, *([data.pieces(int(i)) for i in which] for which in (learnt, measured, words_measured)))
    )
    own = np.flatnonzero(~back[near.owner])
    told = _joined(near, own, far)
    value = np.concatenate([need[near.owner[own]], np.zeros(len(far.owner), bool)])
    ordinary = np.arange(len(value)) >= len(own)
    head = learn(told, value, ordinary, options.seed)
    said, scores = score(head, near, len(written)), score(head, apart, len(measured))
    honest = score(head, beside, len(words_measured))
    rows = [data.rows[int(i)] for i in measured]
    knots = confidences(rows, np.array([len(data.pieces(int(i))) for i in measured]), scores, said[back & ~need], honest)
    stop = dict((confidence, at) for at, confidence in knots[CLASSES[0][0]])[0.40]
    table = {
        'rows': {'in_need': int(need.sum()), 'twins': int((~need).sum()), 'ordinary': len(learnt)},
        'kept_back': {
            name: {'rows': int(which.sum()), 'stopped': _share(said[which], stop)}
            for name, which in (('in_need', back & need), ('twins', back & ~need))
        },
        'area_kept_back': round(float(auroc(said[back & need], said[back & ~need])), 4),
        'area_learnt': round(float(auroc(said[~back & need], said[~back & ~need])), 4),
        'ordinary': {'rows': len(measured), 'stopped': _share(scores, stop)},
        'beside_prompts': {'rows': len(honest), 'stopped': _share(honest, stop)},
    }
    torch.save(head.arrays(), options.work / 'need.pt')
    (options.work / 'need.json').write_text(json.dumps({'knots': knots, 'fitted': {**table, 'seed': options.seed}}, indent=1))
    return table


def _ordinary(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Harmless rows of users: those that are learnt from, and those that nothing learnt from."""
    clean = harmless_sources(data.rows)
    fit_for = np.array([row.role == 'user' and row.benign and row.source not in EITHER for row in data.rows]) & ~beside_guards(data)
    own = np.array([row.source.startswith('written:') for row in data.rows])
    made = np.array([row.source.startswith(('composed', 'guarded', 'grammar')) for row in data.rows])
    plain, back = np.array([row.source in clean for row in data.rows]), aside(data)
    few, _ = chosen(data, Plan(np.flatnonzero(fit_for & ~own & ~made & ~back), 19, ORDINARY), 0)
    close, _ = chosen(data, Plan(np.flatnonzero(fit_for & own & ~back), 19, NEAR), 0)
    measured, _ = chosen(data, Plan(np.flatnonzero(fit_for & plain & ~made & back), 23, MEASURED), 0)
    return np.concatenate([few, close]), np.sort(measured)


def _said(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """What honest users say beside prompts, each text once: what is learnt from, and what nothing learnt from."""
    random, seen = np.random.default_rng(29), set()
    learnt: list[int] = []
    measured: list[int] = []
    for i, row in enumerate(data.rows):
        if row.source == PAIRS and row.labels['guarded'] == 0 and row.text not in seen:
            seen.add(row.text)
            (measured if kept_back(row) else learnt).append(i)
    few, held = (random.permutation(part)[:most] for part, most in ((learnt, SAID), (measured, SAID_MEASURED)))
    return np.sort(few), np.sort(held)


def _joined(one: States, which: np.ndarray, other: States) -> States:
    """Some windows of one and all of another."""
    kept = [one.x[one.start[i] : one.start[i + 1]] for i in which]
    start = np.concatenate([[0], np.cumsum([len(part) for part in kept])])
    return States(
        np.concatenate([*kept, other.x]), np.concatenate([start, start[-1] + other.start[1:]]), np.arange(len(which) + len(other.owner))
    )


def _share(scores: np.ndarray, at: float) -> dict[str, object]:
    hits = int((scores >= at).sum())
    return {'share': round(hits / max(1, len(scores)), 4), 'interval_95': [round(x, 4) for x in wilson(hits, len(scores))]}
