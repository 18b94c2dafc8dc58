"""Learning on the device, by the clock: a teacher of all the base's layers, a student that ships, one short student a fold."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional as F

from ..lanes import LANE, LANES
from ..loop import WARM_UP, balance, labelled
from ..model import Encoder
from ..negatives import HARD_SHARE, WATCHED
from .laid import GUARDS, MAIN, TOOL, TOOLS, Batch, Desk, Samples, Way, grouped

# Of what a teacher says: how much it counts beside labels, and how much the distance of logits counts beside the likelihood.
TAUGHT, NEAR = 0.6, 0.03
# Where in the time of a run it looks for what it gets wrong.
MINED_AT = (0.35, 0.7)


@dataclass(frozen=True)
class Run:
    """Seconds by the clock, the rate, pieces of a batch, and rows that are looked at for hard ones (0: none)."""

    seconds: float
    rate: float = 2e-4
    head_rate: float = 1e-3
    budget: int = 32_768
    mined: int = 60_000
    seed: int = 1
    name: str = ''


def positive_weights(desk: Desk, ways: list[Way]) -> torch.Tensor:
    """As `loop.positive_weights`, of all ways together."""
    value, weight = [], []
    random = np.random.default_rng(5)
    for way in ways:
        row, share = desk.chosen(way, random, np.zeros(0, np.int64))
        value.append(desk.rows.value[row])
        weight.append(desk.rows.weight[row].astype(np.float32) * share[:, None])
    return balance(np.concatenate(value), np.concatenate(weight)).to(desk.device)


def learn(model: Encoder, desk: Desk, ways: list[Way], run: Run, teachers: list[Encoder] | None = None) -> dict[str, float]:
    """Trains in place. :returns: steps, pieces, seconds, the mean loss at the end"""
    torch.manual_seed(run.seed)
    random = np.random.default_rng(run.seed)
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    heads = [p for name, p in named if 'head' in name or name == 'special']
    body = [p for name, p in named if not ('head' in name or name == 'special')]
    groups = [{'params': body, 'lr': run.rate}, {'params': heads, 'lr': run.head_rate}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), fused=desk.device == 'cuda')
    bases = [group['lr'] for group in optimizer.param_groups]
    positive = positive_weights(desk, ways)
    desk.focused[:] = -1
    told = {'steps': 0.0, 'pieces': 0.0, 'seconds': 0.0, 'loss': 0.0, 'epochs': 0.0}
    began = printed = time.monotonic()
    loss = torch.zeros((), device=desk.device)
    mined = 0
    hard: list[np.ndarray] = [np.zeros(0, np.int64)]
    with ThreadPoolExecutor(1) as pool:
        steps = _epochs(desk, ways, run, random, pool, hard, told)
        model.train()
        while (passed := (time.monotonic() - began) / run.seconds) < 1:
            if run.mined and mined < len(MINED_AT) and passed >= MINED_AT[mined]:
                mined += 1
                hard[0] = _mine(model, desk, ways, run, random)
                model.train()
            batch = next(steps)
            factor = min(passed / WARM_UP, (1 - passed) / (1 - WARM_UP))
            for group, base in zip(optimizer.param_groups, bases, strict=True):
                group['lr'] = base * max(factor, 0.01)
            lost = _loss(model, batch, positive, teachers)
            optimizer.zero_grad(set_to_none=True)
            lost.backward()
            torch.nn.utils.clip_grad_norm_(body + heads, 1.0)
            optimizer.step()
            told['steps'] += 1
            told['pieces'] += batch.ids.numel()
            loss = lost.detach() if told['steps'] == 1 else 0.98 * loss + 0.02 * lost.detach()
            if time.monotonic() - printed > 10:
                printed = time.monotonic()
                spent = printed - began
                print(
                    f'{run.name} {spent:5.0f} s  step {told["steps"]:.0f}  epoch {told["epochs"]:.0f}  loss {float(loss):.4f}  '
                    f'{told["pieces"] / spent:.0f} pieces/s',
                    flush=True,
                )
    told['seconds'], told['loss'] = time.monotonic() - began, float(loss)
    print(run.name, {name: round(value, 4) for name, value in told.items()}, flush=True)
    return told


def _epochs(
    desk: Desk,
    ways: list[Way],
    run: Run,
    random: np.random.Generator,
    pool: ThreadPoolExecutor,
    hard: list[np.ndarray],
    told: dict[str, float],
) -> Iterator[Batch]:
    """Batches of epoch after epoch; the next is laid out while the one before is learnt."""
    coming = pool.submit(lambda: desk.groups(ways, run.budget, random, hard[0]))
    while True:
        groups = coming.result()
        coming = pool.submit(lambda: desk.groups(ways, run.budget, random, hard[0]))
        for part, which, longest in groups:
            yield desk.batch(part, which, longest, thin=True)
        told['epochs'] += 1


def _loss(model: Encoder, batch: Batch, positive: torch.Tensor, teachers: list[Encoder] | None) -> torch.Tensor:
    with torch.autocast(batch.ids.device.type, torch.bfloat16):
        scores = model.route(batch.ids, batch.branch)
    by_labels = labelled(scores, batch.value, batch.weight, positive)
    if not teachers:
        return by_labels
    with torch.no_grad(), torch.autocast(batch.ids.device.type, torch.bfloat16):
        said = torch.stack([teacher.route(batch.ids, batch.branch) for teacher in teachers]).mean(0)
    lanes = [LANE['guarded']] if batch.branch == GUARDS else [i for i in range(len(LANES)) if i != LANE['guarded']]
    ours, theirs = scores[:, lanes], said[:, lanes]
    far = F.binary_cross_entropy_with_logits(ours, torch.sigmoid(theirs), reduction='none')
    far = far + NEAR * F.smooth_l1_loss(ours.clamp(-8, 8), theirs.clamp(-8, 8), reduction='none')
    return (1 - TAUGHT) * by_labels + TAUGHT * far.mean(0).sum() / len(lanes) * 2


def scores(model: Encoder, desk: Desk, rows: np.ndarray, role: int | None = None, most: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """:returns: (rows, lanes) the highest logit of any window; (rows,) where the window begins whose highest watched lane is highest"""
    out = np.full((len(rows), len(LANES)), -np.inf, np.float32)
    focus = np.zeros(len(rows), np.int64)
    guarded = desk.rows.guard_count[rows] > 0
    tools = ~guarded & ((desk.rows.role[rows] if role is None else np.full(len(rows), role)) == TOOL)
    for branch, which in ((MAIN, ~guarded & ~tools), (TOOLS, tools), (GUARDS, guarded)):
        places = np.flatnonzero(which)
        if len(places):
            out[places], focus[places] = _scored(model, desk, rows[places], role, most, branch)
    return out, focus


def _scored(
    model: Encoder, desk: Desk, rows: np.ndarray, role: int | None, most: int, branch: str
) -> tuple[np.ndarray, np.ndarray]:
    part, at = desk.windows(rows, role, most)
    part = Samples(branch, part.row, part.share, part.begin, part.count)
    lengths = part.count.sum(1)
    order = np.argsort(lengths)
    found = torch.empty(len(lengths), len(LANES), device=desk.device)
    model.eval()
    with torch.no_grad(), torch.autocast(desk.device, torch.bfloat16):
        for low, high, longest in grouped(lengths[order], 131_072):
            which = order[low:high]
            batch = desk.batch(part, which, longest, thin=False)
            found[torch.from_numpy(which).to(desk.device)] = model.route(batch.ids, branch).float()
    logits = found.cpu().numpy()
    first = np.flatnonzero(np.diff(part.row, prepend=-1))
    best = np.maximum.reduceat(logits, first)
    watched = logits[:, [LANE[lane] for lane in WATCHED]].max(1)
    by_row = np.lexsort((-watched, part.row))
    top = by_row[np.searchsorted(part.row[by_row], np.arange(len(rows)))]
    return best, at[top]


def _mine(model: Encoder, desk: Desk, ways: list[Way], run: Run, random: np.random.Generator) -> np.ndarray:
    """Harmless rows that score highest, which are always in from now on; long harmful rows get a window (`negatives.py`)."""
    c = desk.rows
    main = next(way for way in ways if way.branch == MAIN)
    harmless = main.rows[c.benign[main.rows]]
    harmless = random.choice(harmless, min(run.mined, len(harmless)), replace=False)
    found, _ = scores(model, desk, harmless, most=3)
    worst = found[:, [LANE[lane] for lane in WATCHED]].max(1)
    hard = harmless[np.argsort(-worst)[: int(len(harmless) * HARD_SHARE)]]
    long = main.rows[~c.benign[main.rows] & (c.count[main.rows] > desk.length - 3) & (c.position[main.rows] == 0)]
    _, focus = scores(model, desk, long)
    desk.focused[long] = focus
    return hard
