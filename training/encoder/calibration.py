"""From logits to confidences: what share of unseen harmless texts scores as high.

A confidence of 0.40 is what one in 200 harmless texts of unseen sources reaches, 0.75 one in 1,000, whatever the lane,
the length of the text and who speaks: so a band of a constitution is a point on a curve of false alarms. The groups of
a role share the bound: what any of them reaches is what is counted.

The curve is measured on the weights that ship, by harmless rows that they did not learn from (`apart.aside`), with the classifier's
scores added (`second.py`). They know the sources of these rows, so that the shares are divided by `UNSEEN`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np

from . import second
from .lanes import LANE
from .rows import Row
from .thresholds import CLASSES, class_of

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
        # Of what people type at large much tells a model what to do: more than the rows here show.
        'prompt_injection': ('prompt_injection', 0.15),
        # One of 3,464 texts sets the line of a smaller part: a remark about "them" in a dialogue took a third of all hateful remarks from it.
        'hate': ('hate', 0.5),
        'harassment': ('harassment', 0.25),
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
# So much does a logit rise at most where the share of texts falls by a factor of e. Of 27,125 texts of unseen sources it rises by 0.7 to 1.9; a slope that
# eight texts of a few hundred tell had put 0.40 ten logits above the highest of all.
STEEPEST = 1.5
# Shares below this are not counted but drawn out along the tail: too few texts reach so high.
SURE = 0.001
LEAST = 12
# The least logit of a confidence. Rare is not yet harmful: where hardly anything harmless scores at all, a share says little,
# and what the readers themselves take for harmless is not stopped.
FLOOR = {0.05: -4.0, 0.17: -1.5, 0.25: -0.5, 0.31: 0.5, 0.35: 1.25, 0.40: 2.0, 0.60: 2.75, 0.75: 3.5, 0.95: 6.0}
# Of sources that the weights do not know so many times as many harmless texts score as high as of those that they know: `unseen.py` finds 2.9
# to 3.9 for requests, 2 to 5 for most others of users, more for answers, of which few sources are known.
UNSEEN = 3.0


def calibrate(
    role: str, rows: list[Row], pieces: np.ndarray, logits: np.ndarray, unseen: float = UNSEEN
) -> dict[str, dict[str, list[list[float]]]]:
    """:param rows: harmless rows that nothing learnt from, told as a role's words, with their `pieces` and `logits`
    :returns: by class of length and group: knots of logit and confidence, both rising
    """
    told: dict[str, dict[str, list[list[float]]]] = {}
    names = list(GROUPS[role])
    columns = [LANE[lane] for lane, _ in GROUPS[role].values()]
    parts = np.array([part for _, part in GROUPS[role].values()])
    for name, low, high in CLASSES:
        which, weights = members(rows, pieces, low, high)
        if len(which) == 0:
            continue
        scores = logits[which][:, columns]
        more = 1.0 / unseen
        at = {share: _levels(scores, weights, parts, min(0.6, share * more)) for share, _ in SCALE if share >= SURE}
        told[name] = {
            group: _rising(
                [(float(level[place]), confidence) for (_, confidence), level in zip(SCALE, at.values(), strict=False)]
            )
            for place, group in enumerate(names)
        }
    return told


def sound(knots: dict[str, dict[str, list[list[float]]]]) -> dict[str, dict[str, list[list[float]]]]:
    """Knots of a role that few texts cannot lead astray.

    A longer text has more windows to err on, so none of its knots lies below the same of a shorter one; and none lies
    below `FLOOR`.
    """
    told: dict[str, dict[str, list[list[float]]]] = {}
    below: dict[str, list[list[float]]] = {}
    for name, _, _ in CLASSES:
        for group, line in knots.get(name, {}).items():
            least = below.get(group, line)
            below[group] = [
                [max(at, shorter, FLOOR[told_at]), told_at]
                for (at, told_at), (shorter, _) in zip(line, least, strict=True)
            ]
        if name in knots:
            told[name] = dict(below)
    return told


# By role and group, so many times the share of ordinary harmless texts may be stopped of honest twins, which are chosen because they sound
# like harm. Of requests the fewest: who asks how to end a process, or what a poison does, is refused by nobody else. Of answers the most: some of
# the twins of the corpora say what was asked for.
TWINS: dict[str, dict[str, float]] = {
    role: {group: 1.0 if group == 'request' else 5.0 if role == 'assistant' else 1.5 for group in groups} for role, groups in GROUPS.items()
}


def beside_twins(
    knots: dict[str, dict[str, list[list[float]]]],
    scores: dict[str, np.ndarray],
    weights: np.ndarray,
    times: dict[str, float],
) -> dict[str, dict[str, list[list[float]]]]:
    """Knots of a role that honest twins bear, too: none lies below what, by group, `times` its share of the twins exceeds.

    :param knots: by class of length and group
    :param scores: by group, (n,) logits of twins that nothing learnt from, and their `weights`
    """
    least = {
        group: {
            told: quantile(said, weights, share * times[group])
            for share, told in SCALE
            if SURE <= share and share * times[group] <= 0.5
        }
        for group, said in scores.items()
    }
    raised: dict[str, dict[str, list[list[float]]]] = {}
    for name, groups in knots.items():
        raised[name] = {}
        for group, line in groups.items():
            found: list[list[float]] = []
            for at, told in line:
                above = found[-1][0] + 0.02 if found else -np.inf
                found.append([round(max(at, least[group].get(told, -np.inf), above), 4), told])
            raised[name][group] = found
    return raised


def of_pairs(scores: np.ndarray, times: float = 1.0) -> dict[str, dict[str, list[list[float]]]]:
    """The knots of texts beside a guard. A text of any length has those of one window: the guard is read with each.

    They have no `FLOOR`: of thousands of harmless pairs, many of them hard, shares are known without one.

    :param scores: (n,) logits of harmless pairs
    :param times: the share of `SCALE` that may reach a confidence
    """
    even = np.ones(len(scores))
    levels = [(quantile(scores, even, min(0.6, share * times)), told) for share, told in SCALE if share >= SURE]
    return {CLASSES[0][0]: {'guarded': _rising(levels)}}


def members(rows: list[Row], pieces: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    """The texts of a class of length, and their weights: sources count alike, small ones less."""
    members: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        if low <= pieces[i] <= high:
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

    def at(share: float) -> np.ndarray:
        return np.array([quantile(scores[:, g], weights, min(1.0, share * parts[g])) for g in range(len(parts))])

    # Where a few texts stand out from all others, no line drawn along the tail leaves them below.
    level = np.maximum(at(low), scores.max(0))
    for _ in range(24):
        middle = (low * high) ** 0.5
        tried = at(middle)
        union = weights[(scores > tried).any(1)].sum() / weights.sum()
        if union <= share:
            low, level = middle, tried
        else:
            high = middle
    # Above its own highest text a group stops none: what one group needs is not asked of the others.
    return np.minimum(level, np.maximum(at(share), scores.max(0)))


def quantile(scores: np.ndarray, weights: np.ndarray, share: float) -> float:
    """The logit that a share of the texts exceeds, drawn out along the tail where fewer than eight texts would."""
    order = np.argsort(-scores)
    passed = np.cumsum(weights[order]) / weights.sum()
    least = passed[min(7, len(passed) - 1)]
    if share >= least:
        return float(np.interp(share, passed, scores[order]))
    # The logarithm of the share falls about evenly with the logit in the tail.
    far, near = np.interp([least, min(0.2, least * 8)], passed, scores[order])
    slope = (far - near) / max(1e-9, np.log(min(0.2, least * 8) / least))
    drawn = float(far + np.clip(slope, 0.0, STEEPEST) * np.log(least / share))
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
        'seconded': second.manifest(GROUPS),
        'knots': knots,
    }
