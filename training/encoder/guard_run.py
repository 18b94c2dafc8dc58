"""Teaches weights that ship what goes for what a prompt keeps, and nothing else: layers of their own read it.

Two questions, one lane. Beside an empty text: whether a sentence of a prompt keeps something. Beside a text: whether it goes
for what the sentences keep. The layers below, which everybody's words go through, stay as they are, and so does every score
of texts that stand beside no guard, to the bit.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace

import numpy as np
import torch

from . import calibration
from .base import new_encoder
from .batches import Plan
from .dataset import Dataset, load
from .lanes import LANE
from .loop import Budget, train
from .metrics import auroc
from .model import Encoder
from .pairs import FOREIGN, ORDINARY, PAIRS, SENTENCES, WORK
from .runs import Options, aside, beside_guards
from .scoring import score

# Of prompts that keep something, the share of which a sentence has to be found.
FOUND = 0.98
LENGTH = 128
# As `calibration.TWINS`. Twice as many as there: what goes for what a prompt keeps is asked about, and never refused.
TWINS = 10


def learn(options: Options) -> dict[str, object]:
    """Trains for `options.minutes`; leaves `round-0.pt` and `calibration.json` in the work folder.

    :raises ValueError: no weights to start from were named
    """
    if options.start is None:
        raise ValueError('--start is needed: the folder with the weights that are to learn it')
    data = load(options.work)
    model, _ = new_encoder(options.work, replace(options.settings, branches=('guards',)), options.seed, options.start)
    model.requires_grad_(False)
    model.branches['guards'].requires_grad_(True)
    rows = np.flatnonzero(beside_guards(data) & ~aside(data))
    plan = Plan(rows, options.seed, options.most, LENGTH, options.budget, 0, ('written:',))
    checkpoint, finished = options.work / 'round-0.pt', options.work / 'round-0.json'
    if finished.exists():
        model.load_state_dict(torch.load(checkpoint, weights_only=False)['model'])
        told = json.loads(finished.read_text())
    else:
        told = train(model, data, plan, Budget(options.epochs, options.minutes, options.rate), checkpoint, options.seed)
        finished.write_text(json.dumps(told))
    return {**told, **settle(options, data, model)}


def settle(options: Options, data: Dataset, model: Encoder) -> dict[str, object]:
    """The confidences beside guards, and what keeps something, from prompts that nothing was learnt from."""
    assert options.start is not None
    which = np.flatnonzero(aside(data) & beside_guards(data))
    scores = score(model, data, which, LENGTH, options.windows).logits[:, LANE['guarded']]
    rows = [data.rows[int(i)] for i in which]
    goes = np.array([row.labels['guarded'] == 1 for row in rows])
    source = np.array([row.source for row in rows])
    sentence = source == SENTENCES
    # What people ask of other bots, and the pairs of the grammars, are ordinary; words of a bot's own users are chosen to be hard.
    hard = ~goes & np.isin(source, (PAIRS, FOREIGN))
    ordinary = ~goes & ~sentence & ~hard
    knots = calibration.beside_twins(calibration.of_pairs(scores[ordinary]), scores[hard], TWINS)
    keeps, kept = _keeping([row.key for row in rows], goes, scores, sentence)
    written = goes & (source == PAIRS)
    line = next(iter(knots.values()))['guarded']
    told = {
        'ordinary': int(ordinary.sum()),
        'hard': int(hard.sum()),
        'rows': int(written.sum()),
        'auroc': {
            'ordinary': round(auroc(scores[written], scores[ordinary]), 4),
            'hard': round(auroc(scores[written], scores[hard]), 4),
        },
        'from': {
            str(confidence): {
                'caught': round(float((scores[written] >= at).mean()), 4),
                'grammar': round(float((scores[goes & ~written & ~sentence] >= at).mean()), 4),
                'hard': round(float((scores[hard] >= at).mean()), 4),
                'people': round(float((scores[source == ORDINARY] >= at).mean()), 4),
                'work': round(float((scores[source == WORK] >= at).mean()), 4),
            }
            for at, confidence in line
        },
        'sentences': kept,
    }
    shipped = json.loads((options.start / 'encoder.json').read_text())
    same = {'carried', 'aside_rows', 'by_source'} & shipped['calibrated'].keys()
    (options.work / 'calibration.json').write_text(
        json.dumps(
            {
                **calibration.manifest({**shipped['calibration'], 'guarded': knots}),
                'keeps': keeps,
                'pairs': told,
                **{name: shipped['calibrated'][name] for name in sorted(same)},
            },
            indent=1,
        )
    )
    return told


def _keeping(keys: list[str], keeps: np.ndarray, scores: np.ndarray, sentence: np.ndarray) -> tuple[float, dict[str, float]]:
    """The logit from which on a sentence keeps something, and what it finds.

    :returns: so that of `FOUND` of the prompts that keep something a sentence is found; shares of sentences and prompts
    """
    best: dict[str, float] = defaultdict(lambda: -np.inf)
    others: dict[str, list[float]] = defaultdict(list)
    for key, keeping, logit, counts in zip(keys, keeps, scores, sentence, strict=True):
        if counts and keeping:
            best[key] = max(best[key], float(logit))
        elif counts:
            others[key].append(float(logit))
    at = round(float(np.quantile(list(best.values()), 1 - FOUND)), 4)
    free = [max(logits) for key, logits in others.items() if key not in best]
    return at, {
        'keeping_found': round(float((scores[sentence & keeps] >= at).mean()), 4),
        'others_found': round(float((scores[sentence & ~keeps] >= at).mean()), 4),
        'free_prompts_found': round(float((np.array(free) >= at).mean()), 4) if free else 0.0,
        'auroc': round(auroc(scores[sentence & keeps], scores[sentence & ~keeps]), 4),
    }
