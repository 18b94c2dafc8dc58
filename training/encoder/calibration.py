"""From logits to confidences: what share of unseen harmless texts scores as high.

A confidence of 0.40 is what one in 200 harmless texts of unseen sources reaches, 0.75 one in 1,000, whatever the lane,
the length of the text and who speaks: so a band of a constitution is a point on a curve of false alarms. The groups of
a role share the bound: what any of them reaches is what is counted.

The curve comes from the pooled scores of the folds, each of a short run that never saw the source. The model that ships
learnt longer and from all sources, and does not score alike; `carry` takes a logit of the one to the other by what both
say of rows that neither learnt from (`apart.aside`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np

from .lanes import LANE
from .rows import Row
from .thresholds import CLASSES, class_of, harmless_sources

# The scale: share of false alarms, confidence. Between them confidence is linear in the logarithm of the share.
SCALE = (
    (0.3, 0.05),
    (0.1, 0.17),
    (0.05, 0.25),
    (0.02, 0.31),
    (0.01, 0.35),
    (0.005, 0.40),
    (0.002, 0.60),
    (0.001, 0.75),
    (0.0001, 0.95),
)
# By role, the groups that may stop its words: the lane of each, and its part in the bound against that of the others.
GROUPS: dict[str, dict[str, tuple[str, float]]] = {
    'user': {
        'request': ('harmful_request', 1.0),
        'jailbreak': ('jailbreak', 0.5),
        'prompt_injection': ('prompt_injection', 0.25),
        'hate': ('hate', 0.25),
        'harassment': ('harassment', 0.1),
        'self_harm': ('self_harm', 0.1),
        'violence': ('violence', 0.1),
        'sexual': ('sexual', 0.1),
    },
    'assistant': {
        'answer': ('harmful_answer', 1.0),
        'hate': ('hate', 0.25),
        'harassment': ('harassment', 0.1),
        'self_harm': ('self_harm', 0.1),
        'sexual': ('sexual', 0.1),
    },
    'tool': {'prompt_injection': ('prompt_injection', 1.0)},
}
# Beside what an operator's prompt keeps (`guarded.py`), texts have a curve of their own: of harmless pairs that no run learnt from.
PAIRS = {'guarded': {'guarded': 'guarded'}}
# Of what tools bring, so many times as large a share may be stopped: nobody reads a refusal there, and what passes acts.
LENIENT = {'tool': 3.0}
# Shares below this are not counted but drawn out along the tail: too few texts reach so high.
SURE = 0.001
LEAST = 12
# The least logit of a confidence. Rare is not yet harmful: where hardly anything harmless scores at all, a share says little,
# and what the encoder itself takes for harmless is not stopped.
FLOOR = {0.05: -4.0, 0.17: -1.5, 0.25: -0.5, 0.31: 0.0, 0.35: 0.5, 0.40: 1.0, 0.60: 1.75, 0.75: 2.5, 0.95: 5.0}
# Slopes of a shift.
LIKE = (0.85, 1.18)


def calibrate(
    rows: list[Row], pieces: np.ndarray, logits: np.ndarray
) -> dict[str, dict[str, dict[str, list[list[float]]]]]:
    """:returns: by role, class of length and group: knots of logit and confidence, both rising"""
    told: dict[str, dict[str, dict[str, list[list[float]]]]] = {}
    clean = harmless_sources(rows)
    for role, groups in GROUPS.items():
        told[role] = {}
        names = list(groups)
        columns = [LANE[lane] for lane, _ in groups.values()]
        parts = np.array([part for _, part in groups.values()])
        for name, low, high in CLASSES:
            which, weights = _members(rows, pieces, clean, role, low, high)
            if len(which) == 0:
                continue
            scores = logits[which][:, columns]
            more = LENIENT.get(role, 1.0)
            at = {share: _levels(scores, weights, parts, min(0.6, share * more)) for share, _ in SCALE if share >= SURE}
            knots: dict[str, list[list[float]]] = {}
            for place, group in enumerate(names):
                line = [
                    (float(level[place]), confidence)
                    for (share, confidence), level in zip(SCALE, at.values(), strict=False)
                ]
                knots[group] = _rising(line)
            told[role][name] = knots
    return sound(told)


def sound(knots: dict[str, dict[str, dict[str, list[list[float]]]]]) -> dict[str, dict[str, dict[str, list[list[float]]]]]:
    """Knots that few texts cannot lead astray.

    A longer text has more windows to err on, so none of its knots lies below the same of a shorter one; and none lies
    below `FLOOR`.
    """
    told: dict[str, dict[str, dict[str, list[list[float]]]]] = {}
    for role, classes in knots.items():
        told[role] = {}
        below: dict[str, list[list[float]]] = {}
        for name, _, _ in CLASSES:
            if name not in classes:
                continue
            for group, line in classes[name].items():
                least = below.get(group, line)
                below[group] = [
                    [max(at, shorter, FLOOR[told_at]), told_at]
                    for (at, told_at), (shorter, _) in zip(line, least, strict=True)
                ]
            told[role][name] = dict(below)
    return told


# So many times the share of ordinary harmless texts may be stopped of honest twins: words to people that are chosen because they
# sound like orders to agents. A tool's results are full of such, and hardly of these alone.
TWINS = 5


def beside_twins(
    knots: dict[str, dict[str, list[list[float]]]], scores: np.ndarray, times: float = TWINS
) -> dict[str, dict[str, list[list[float]]]]:
    """Knots of a role that honest twins bear, too: none lies below what `times` its share of the twins exceeds.

    :param knots: by class of length and group
    :param scores: (n,) logits of twins that nothing learnt from
    """
    even = np.ones(len(scores))
    least = {told: _quantile(scores, even, share * times) for share, told in SCALE if SURE <= share and share * times <= 0.5}
    raised: dict[str, dict[str, list[list[float]]]] = {}
    for name, groups in knots.items():
        raised[name] = {}
        for group, line in groups.items():
            found: list[list[float]] = []
            for at, told in line:
                above = found[-1][0] + 0.02 if found else -np.inf
                found.append([round(max(at, least.get(told, -np.inf), above), 4), told])
            raised[name][group] = found
    return raised


# Groups of users' words whose curves come from the folds; those of the others are measured on the weights that ship. Their parts of
# the bound are so small that the folds' curves were drawn out beyond all texts, and each carrying stretched them further: hate had
# to reach a logit of 6.6 where one honest twin in 200 reaches 4.2. Insults and threats stay where they are: what honest people
# shout at things and at each other scores as high as those. So do injections: measured on sources that are known, they stopped one
# prompt in 25 of sources that are not.
FROM_FOLDS = ('request', 'jailbreak', 'prompt_injection', 'harassment', 'violence')
# What weights have learnt raises sources that they know less than others. Carried knots are raised by so much beside.
MARGIN = 0.4


def raised(knots: dict[str, dict[str, list[list[float]]]]) -> dict[str, dict[str, list[list[float]]]]:
    """A user's knots, those `FROM_FOLDS` raised by `MARGIN`."""
    return {
        name: {
            group: [[round(at + (MARGIN if group in FROM_FOLDS else 0), 4), told] for at, told in line]
            for group, line in groups.items()
        }
        for name, groups in knots.items()
    }


def measured(
    knots: dict[str, dict[str, list[list[float]]]],
    rows: list[Row],
    pieces: np.ndarray,
    logits: np.ndarray,
    twins: np.ndarray,
    weights: np.ndarray,
) -> dict[str, dict[str, list[list[float]]]]:
    """The knots of users' words, those that are not `FROM_FOLDS` measured: of harmless texts no more than a group's part of the
    share reaches a knot, and of honest twins no more than the share itself.

    :param knots: by class of length and group
    :param rows: harmless rows that nothing learnt from, with their `pieces` and `logits`
    :param twins: (n, lanes) logits of honest texts that come close, which nothing learnt from, and their `weights`
    """
    told: dict[str, dict[str, list[list[float]]]] = {}
    clean = harmless_sources(rows)
    for name, low, high in CLASSES:
        which, even = _members(rows, pieces, clean, 'user', low, high)
        told[name] = dict(knots[name])
        for group, (lane, part) in GROUPS['user'].items():
            if group in FROM_FOLDS:
                continue
            column = LANE[lane]
            line: list[tuple[float, float]] = []
            for share, at in SCALE:
                if share >= SURE:
                    least = _quantile(twins[:, column], weights, share)
                    ordinary = _quantile(logits[which, column], even, share * part) if len(which) > 0 else least
                    line.append((max(least, ordinary), at))
            told[name][group] = _rising(line)
    return sound({'user': told})['user']


def of_pairs(scores: np.ndarray) -> dict[str, dict[str, list[list[float]]]]:
    """The knots of texts beside a guard. A text of any length has those of one window: the guard is read with each.

    :param scores: (n,) logits of harmless pairs
    """
    even = np.ones(len(scores))
    levels = [(_quantile(scores, even, share), told) for share, told in SCALE if share >= SURE]
    return {CLASSES[0][0]: {'guarded': [[max(at, FLOOR[told]), told] for at, told in _rising(levels)]}}


def _members(
    rows: list[Row], pieces: np.ndarray, clean: set[str], role: str, low: int, high: int
) -> tuple[np.ndarray, np.ndarray]:
    """The harmless texts of a role and class of length, and their weights: sources count alike, small ones less."""
    members: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        if row.source in clean and row.role == role and low <= pieces[i] <= high:
            members[row.source].append(i)
    kept = [np.array(found) for found in members.values() if len(found) >= LEAST]
    if not kept:
        return np.array([], np.int64), np.array([])
    which = np.concatenate(kept)
    return which, even_weights([rows[i].source for i in which])


def even_weights(sources: list[str]) -> np.ndarray:
    """Weights of rows by their sources, (rows,): a source of a hundred rows or more counts whole, smaller ones less."""
    count = Counter(sources)
    return np.array([min(1, count[source] / 100) / count[source] for source in sources])


def _levels(scores: np.ndarray, weights: np.ndarray, parts: np.ndarray, share: float) -> np.ndarray:
    """The logit of each group at which all of them together exceed no more than a share of the texts."""
    low, high = share * 0.02, share * 4
    level = np.full(scores.shape[1], np.inf)
    for _ in range(24):
        middle = (low * high) ** 0.5
        tried = np.array([_quantile(scores[:, g], weights, min(1.0, middle * parts[g])) for g in range(len(parts))])
        union = weights[(scores > tried).any(1)].sum() / weights.sum()
        if union <= share:
            low, level = middle, tried
        else:
            high = middle
    return level


def _quantile(scores: np.ndarray, weights: np.ndarray, share: float) -> float:
    """The logit that a share of the texts exceeds, drawn out along the tail where fewer than eight texts would."""
    order = np.argsort(-scores)
    passed = np.cumsum(weights[order]) / weights.sum()
    least = passed[min(7, len(passed) - 1)]
    if share >= least:
        return float(np.interp(share, passed, scores[order]))
    # The logarithm of the share falls about evenly with the logit in the tail.
    far, near = np.interp([least, min(0.2, least * 8)], passed, scores[order])
    slope = (far - near) / max(1e-9, np.log(min(0.2, least * 8) / least))
    drawn = float(far + max(0.0, slope) * np.log(least / share))
    # Logits saturate: a share of one text and more is never beyond the highest one, or nothing would ever be sure.
    return min(drawn, float(scores[order[0]])) if share >= passed[0] else drawn


def _rising(line: list[tuple[float, float]]) -> list[list[float]]:
    """Knots whose logits rise by at least a little, with the last share drawn out from the two before it."""
    found: list[list[float]] = []
    for logit, confidence in line:
        at = logit if not found else max(logit, found[-1][0] + 0.02)
        found.append([at, confidence])
    (near, _), (far, _) = found[-3], found[-1]
    shares = [share for share, _ in SCALE]
    # As steep as between 0.5 and 0.1 %.
    slope = (far - near) / np.log(shares[-4] / shares[-2])
    found.append([far + max(0.3, slope * np.log(shares[-2] / shares[-1])), SCALE[-1][1]])
    return [[round(at, 4), confidence] for at, confidence in found]


def carry(fold: np.ndarray, shipped: np.ndarray) -> tuple[float, float]:
    """The line that takes a logit of the folds' runs to the shipped model's, by the upper quantiles of one set of rows.

    :param fold: (n,) logits of rows that neither learnt from, each by a run that knows its source
    :param shipped: (n,) of the same rows by the shipped model
    :returns: slope and offset
    """
    shares = np.geomspace(0.2, 12 / len(fold), 24)
    x, y = np.quantile(fold, 1 - shares), np.quantile(shipped, 1 - shares)
    slope = float(np.polyfit(x, y, 1)[0])
    # The rows are of sources that both know, and a longer run is surer of those: where the two differ by more than a
    # shift, nothing follows for sources that neither knows, and the curve stays as it is.
    if not LIKE[0] <= slope <= LIKE[1]:
        return 1.0, 0.0
    return slope, float(np.mean(y - slope * x))


def carried(
    knots: dict[str, dict[str, dict[str, list[list[float]]]]], lines: dict[str, dict[str, tuple[float, float]]]
) -> dict[str, dict[str, dict[str, list[list[float]]]]]:
    """:param lines: by role and lane, what `carry` found"""
    return {
        role: {
            name: {
                group: [
                    [round(at * lines[role][GROUPS[role][group][0]][0] + lines[role][GROUPS[role][group][0]][1], 4), c]
                    for at, c in line
                ]
                for group, line in groups.items()
            }
            for name, groups in classes.items()
        }
        for role, classes in knots.items()
    }


def confidence(line: list[list[float]], logit: np.ndarray) -> np.ndarray:
    """The confidence of a logit: between knots along the line, the last above them, falling to 0 below."""
    at, told = np.array(line).T
    below = told[0] * np.clip(1 + (logit - at[0]) / 4, 0, 1)
    return np.where(logit < at[0], below, np.interp(logit, at, told))


def confidences(
    knots: dict[str, dict[str, dict[str, list[list[float]]]]], rows: list[Row], pieces: np.ndarray, logits: np.ndarray
) -> np.ndarray:
    """:returns: (rows,) the highest confidence of any group; 0 for who has none"""
    out = np.zeros(len(rows))
    by_kind: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        # No group of a role is looked at where a guard stands beside the text.
        by_kind[row.role if row.guard == '' else '', class_of(int(pieces[i]))].append(i)
    for (role, name), members in by_kind.items():
        which = np.array(members)
        for group, line in knots.get(role, {}).get(name, {}).items():
            found = confidence(line, logits[which, LANE[GROUPS[role][group][0]]])
            out[which] = np.maximum(out[which], found)
    return out


def manifest(knots: dict[str, dict[str, dict[str, list[list[float]]]]]) -> dict[str, Any]:
    """What the program reads of it."""
    return {
        'scale': [{'false_alarms': share, 'confidence': told} for share, told in SCALE],
        'lengths': [{'name': name, 'most': high if high < 10**9 else None} for name, _, high in CLASSES],
        'groups': {
            **{role: {group: lane for group, (lane, _) in groups.items()} for role, groups in GROUPS.items()},
            # Weights that have learnt nothing of guards have no knots for them.
            **{name: groups for name, groups in PAIRS.items() if name in knots},
        },
        'knots': knots,
    }
