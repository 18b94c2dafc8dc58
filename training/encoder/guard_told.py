"""What an encoder says beside guards, of prompts that nothing was learnt from: its confidences, and what keeps something."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from . import calibration
from .apart import aside, beside_guards
from .dataset import Dataset
from .lanes import LANE
from .metrics import auroc
from .model import Encoder
from .pairs import ORDINARY, PAIRS, SENTENCES, WORK
from .scoring import score

# Of prompts that keep something, the share of which a sentence has to be found.
FOUND = 0.98
LENGTH = 128
# As `calibration.TWINS`, and more: what goes for what a prompt keeps is asked about, and never refused.
TWINS = 20
# So many times the share of ordinary pairs reaches a confidence as of other texts. `default.yaml` weighs this finding by 0.66, so that it never refuses by
# itself, and asks from 0.61 on: of honest messages on a product's own subject many come close.
ASKED_ABOUT = 1.5


def pairs_told(model: Encoder, data: Dataset, windows: int) -> dict[str, Any]:
    """
    :param windows: of a text that are read
    :returns: `knots` of texts beside a guard; `keeps`, from where on a sentence keeps something; `pairs`, what both find
    """
    which = np.flatnonzero(aside(data) & beside_guards(data))
    scores = score(model, data, which, LENGTH, windows).logits[:, LANE['guarded']]
    rows = [data.rows[int(i)] for i in which]
    goes = np.array([row.labels['guarded'] == 1 for row in rows])
    source = np.array([row.source for row in rows])
    sentence = source == SENTENCES
    # What people ask of other bots is ordinary; words of a bot's own users, and the pairs of the grammars, are chosen to be hard.
    ordinary = ~goes & np.isin(source, (ORDINARY, WORK))
    hard = ~goes & ~sentence & ~ordinary
    knots = calibration.beside_twins(
        calibration.of_pairs(scores[ordinary], ASKED_ABOUT), {'guarded': scores[hard]}, np.ones(int(hard.sum())), {'guarded': TWINS}
    )
    keeps, kept = _keeping([row.key for row in rows], goes, scores, sentence)
    written = goes & (source == PAIRS)
    line = next(iter(knots.values()))['guarded']
    pairs = {
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
    return {'knots': knots, 'keeps': keeps, 'pairs': pairs}


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
