"""The training loop.

Bf16, AdamW, a rate that rises and falls with the budget, a checkpoint that can be gone on from.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from .batches import Batch, Plan, batches, chosen
from .dataset import Dataset
from .model import Encoder, half

WARM_UP = 0.06


@dataclass(frozen=True)
class Budget:
    """Training ends after so many epochs, or so many minutes by the clock, whichever comes first."""

    epochs: float = 3
    minutes: float = 0
    rate: float = 2e-4
    head_rate: float = 1e-3
    decay: float = 0.01


def positive_weights(data: Dataset, plan: Plan) -> torch.Tensor:
    """By lane, how much more a positive counts: the root of the imbalance, at most eightfold."""
    rows, share = chosen(data, plan, 0)
    weight = data.weight[rows] * share[:, None]
    return balance(data.value[rows], weight)


def balance(value: np.ndarray, weight: np.ndarray) -> torch.Tensor:
    """:param value: (rows, lanes) 1, 0 or -1, and their `weight`. :returns: (lanes,) as of `positive_weights`"""
    positive, negative = (weight * (value == 1)).sum(0), (weight * (value == 0)).sum(0)
    return torch.from_numpy((negative / positive.clip(1e-6)) ** 0.5).clamp(1, 8).float()


def loss_of(model: Encoder, batch: Batch, positive: torch.Tensor) -> torch.Tensor:
    """Binary cross entropy over what is known."""
    with half():
        scores = model(batch.ids)
    return labelled(scores, batch.value, batch.weight, positive)


def labelled(scores: torch.Tensor, value: torch.Tensor, weights: torch.Tensor, positive: torch.Tensor) -> torch.Tensor:
    """The loss of scores by what labels say: (rows, lanes) each, `positive` by lane."""
    weight = weights * torch.where(value == 1, positive, 1.0) * (value >= 0)
    error = F.binary_cross_entropy_with_logits(scores.float(), value.clamp(min=0).float(), reduction='none')
    return (error * weight).sum() / weights.sum().clamp(min=1e-6)


def train(
    model: Encoder,
    data: Dataset,
    plan: Plan,
    budget: Budget,
    checkpoint: Path | None = None,
    seed: int = 1,
    log: float = 20,
    loss: Callable[[Encoder, Batch, torch.Tensor], torch.Tensor] = loss_of,
) -> dict[str, float]:
    """Trains in place.

    :param checkpoint: written every three minutes and at the end; one that is there is gone on from
    :returns: steps, pieces, seconds, mean loss at the start and at the end
    """
    torch.manual_seed(seed)
    heads = [p for name, p in model.named_parameters() if p.requires_grad and name.startswith(('head', 'special'))]
    body = [p for name, p in model.named_parameters() if p.requires_grad and not name.startswith(('head', 'special'))]
    optimizer = torch.optim.AdamW(
        [{'params': body, 'lr': budget.rate}, {'params': heads, 'lr': budget.head_rate}],
        weight_decay=budget.decay,
        betas=(0.9, 0.98),
        fused=True,
    )
    bases = [group['lr'] for group in optimizer.param_groups]
    positive = positive_weights(data, plan)
    told = {'steps': 0.0, 'pieces': 0.0, 'seconds': 0.0, 'first_loss': 0.0, 'loss': 0.0}
    done = 0
    if checkpoint is not None and checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=False)
        model.load_state_dict(saved['model'])
        optimizer.load_state_dict(saved['optimizer'])
        torch.set_rng_state(saved['random'])
        told, done = saved['told'], int(saved['told']['steps'])
    began = time.monotonic() - told['seconds']
    saved_at = printed_at = time.monotonic()
    # Laid out once: an epoch takes a minute or two to cut.
    first = list(batches(data, plan, 0))
    per_epoch = len(first)
    total = budget.epochs * per_epoch
    model.train()
    step, epoch = 0, 0
    while step < total:
        for batch in first if epoch == 0 else batches(data, plan, epoch):
            step += 1
            if step <= done:
                continue
            told['seconds'] = time.monotonic() - began
            passed = max(step / total, told['seconds'] / 60 / budget.minutes if budget.minutes else 0)
            if passed >= 1 or step > total:
                step = int(total) + 1
                break
            factor = min(passed / WARM_UP, (1 - passed) / (1 - WARM_UP))
            for group, base in zip(optimizer.param_groups, bases, strict=True):
                group['lr'] = base * max(factor, 0.01)
            lost = loss(model, batch, positive)
            optimizer.zero_grad(set_to_none=True)
            lost.backward()
            torch.nn.utils.clip_grad_norm_(body + heads, 1.0)
            optimizer.step()
            value = float(lost.detach())
            told['steps'] = step
            told['pieces'] += float(batch.ids.numel())
            told['loss'] = value if step == 1 else 0.98 * told['loss'] + 0.02 * value
            if step == 30:
                told['first_loss'] = told['loss']
            now = time.monotonic()
            if now - printed_at > log:
                printed_at = now
                print(
                    f'{told["seconds"]:6.0f} s  step {step} ({passed:.0%})  loss {told["loss"]:.4f}  '
                    f'{told["pieces"] / told["seconds"]:.0f} pieces/s',
                    flush=True,
                )
            if checkpoint is not None and now - saved_at > 180:
                saved_at = now
                _save(checkpoint, model, optimizer, told)
        epoch += 1
    if checkpoint is not None:
        _save(checkpoint, model, optimizer, told)
    return told


def train_once(
    model: Encoder,
    data: Dataset,
    plan: Plan,
    budget: Budget,
    work: Path,
    number: int = 0,
    seed: int = 1,
    loss: Callable[[Encoder, Batch, torch.Tensor], torch.Tensor] = loss_of,
) -> dict[str, float]:
    """Trains in place for one round, or takes up what it came to where it was finished before.

    :param work: `round-N.pt` and `round-N.json` stand there afterwards
    :returns: as `train`
    """
    checkpoint, finished = work / f'round-{number}.pt', work / f'round-{number}.json'
    if finished.exists():
        model.load_state_dict(torch.load(checkpoint, weights_only=False)['model'])
        found: dict[str, float] = json.loads(finished.read_text())
        return found
    told = train(model, data, plan, budget, checkpoint, seed, loss=loss)
    finished.write_text(json.dumps(told))
    return told


def _save(path: Path, model: Encoder, optimizer: torch.optim.Optimizer, told: dict[str, float]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix('.partial')
    torch.save(
        {
            'model': model.state_dict(),
            'optimizer': optimizer.state_dict(),
            'random': torch.get_rng_state(),
            'told': told,
            'settings': model.settings,
        },
        partial,
    )
    partial.rename(path)
