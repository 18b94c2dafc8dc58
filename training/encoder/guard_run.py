"""Teaches weights that ship the lane `guarded`, and nothing else: half an hour instead of a round.

A pair is read by the same layers as any text, so that they have to learn what stands beside what. What they say of texts
by themselves is held where it was: rows of every source are read by the weights as they ship too, and the distance
between the two is part of the loss (Li and Hoiem 2016, arXiv 1606.09282). Confidences of the other lanes stay valid.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch.nn import functional as F

from . import calibration
from .base import new_encoder
from .batches import Batch, Plan, batches, chosen
from .dataset import Dataset, load
from .lanes import LANE
from .model import Encoder, half
from .runs import Options, aside, beside_guards, pairs_told
from .scoring import score

# Layers below stay as they are: they know words, not yet what goes for what.
FROZEN_LAYERS = 2
# Rows of a source that are held where they were, and what their distance counts against a pair.
HELD, HELD_WEIGHT = 140, 0.2
RATE, HEAD_RATE = 1.5e-4, 1e-3
WARM_UP = 0.06


def learn(options: Options) -> dict[str, object]:
    """Trains for `options.minutes`; leaves `round-0.pt` and `calibration.json` in the work folder.

    :raises ValueError: no weights to start from were named
    """
    if options.start is None:
        raise ValueError('--start is needed: the folder with the weights that are to learn it')
    data = load(options.work)
    settings = replace(options.settings, dropout=0.0)
    before, _ = new_encoder(options.work, settings, options.seed, options.start)
    model, _ = new_encoder(options.work, settings, options.seed, options.start)
    before.eval()
    for layer in model.layers[:FROZEN_LAYERS]:
        layer.requires_grad_(False)
    for parameter in (model.special, model.places, *model.norm.parameters()):
        parameter.requires_grad_(False)
    told = _train(model, before, data, options)
    torch.save({'model': model.state_dict(), 'settings': settings, 'told': told}, options.work / 'round-0.pt')
    (options.work / 'round-0.json').write_text(json.dumps(told))
    told['moved'] = _moved(before, model, data, options)
    shipped = json.loads((options.start / 'encoder.json').read_text())
    pairs = pairs_told(model, data, options.windows)
    kept = {role: knots for role, knots in shipped['calibration'].items() if role != 'guarded'}
    (options.work / 'calibration.json').write_text(
        json.dumps(
            {
                **calibration.manifest({**kept, 'guarded': pairs['knots']}),
                'pairs': pairs['pairs'],
                'moved': told['moved'],
                **{
                    name: shipped['calibrated'][name]
                    for name in ('carried', 'aside_rows')
                    if name in shipped['calibrated']
                },
            },
            indent=1,
        )
    )
    return {**told, 'pairs': pairs['pairs']}


def _train(model: Encoder, before: Encoder, data: Dataset, options: Options) -> dict[str, object]:
    torch.manual_seed(options.seed)
    head = [model.head.weight, model.head.bias]
    body = [p for name, p in model.named_parameters() if p.requires_grad and not name.startswith('head')]
    optimizer = torch.optim.AdamW([{'params': body, 'lr': RATE}, {'params': head, 'lr': HEAD_RATE}], weight_decay=0.01)
    bases = [group['lr'] for group in optimizer.param_groups]
    began = printed = time.monotonic()
    step, pieces, loss_of_pairs, distance = 0, 0, 0.0, 0.0
    for batch in _rows(data, options):
        passed = (time.monotonic() - began) / 60 / options.minutes
        if passed >= 1:
            break
        step += 1
        pieces += batch.ids.numel()
        for group, base in zip(optimizer.param_groups, bases, strict=True):
            group['lr'] = base * max(0.01, min(passed / WARM_UP, (1 - passed) / (1 - WARM_UP)))
        with half():
            logits = model(batch.ids).float()
        lane = LANE['guarded']
        known = batch.value[:, lane] >= 0
        loss = torch.zeros(())
        if known.any():
            loss = F.binary_cross_entropy_with_logits(logits[known, lane], batch.value[known, lane].float())
            loss_of_pairs = 0.95 * loss_of_pairs + 0.05 * float(loss.detach())
        if (~known).any():
            with torch.no_grad(), half():
                was = before(batch.ids[~known]).float()
            others = torch.arange(logits.shape[1]) != lane
            held = F.mse_loss(logits[~known][:, others], was[:, others])
            distance = 0.95 * distance + 0.05 * float(held.detach())
            loss = loss + HELD_WEIGHT * held
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(body + head, 1.0)
        optimizer.step()
        if time.monotonic() - printed > 20:
            printed = time.monotonic()
            print(
                f'{printed - began:6.0f} s  step {step} ({passed:.0%})  pairs {loss_of_pairs:.4f}  distance {distance:.4f}  '
                f'{pieces / (printed - began):.0f} pieces/s',
                flush=True,
            )
    return {
        'steps': step,
        'pieces': pieces,
        'seconds': time.monotonic() - began,
        'loss': loss_of_pairs,
        'distance': distance,
    }


def _rows(data: Dataset, options: Options) -> Iterator[Batch]:
    """Batches of pairs and of rows that are held, half of each, without an end."""
    beside = beside_guards(data)
    free = ~aside(data)
    pairs = np.flatnonzero(beside & free)
    others = np.flatnonzero(~beside & free)
    for epoch in range(1000):
        held, _ = chosen(data, Plan(others, options.seed, HELD), epoch)
        random = np.random.default_rng((options.seed, epoch, 2))
        some = random.choice(pairs, min(len(pairs), len(held)), replace=False)
        plan = Plan(
            np.concatenate([some, held]), options.seed + epoch, len(pairs), options.length, options.budget, composed=0
        )
        yield from batches(data, plan, epoch)


def _moved(before: Encoder, model: Encoder, data: Dataset, options: Options) -> dict[str, float]:
    """How far the other lanes have moved, on rows that were set aside: of logits, mean and 99 % of texts."""
    which = np.flatnonzero(aside(data) & ~beside_guards(data))
    which = np.random.default_rng(options.seed).choice(which, min(600, len(which)), replace=False)
    was, is_now = (score(m, data, which, 128, 2).logits for m in (before, model))
    lanes = [lane for name, lane in LANE.items() if name != 'guarded']
    gap = np.abs(was - is_now)[:, lanes].max(1)
    return {'mean': round(float(gap.mean()), 4), 'p99': round(float(np.quantile(gap, 0.99)), 4)}
