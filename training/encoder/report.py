"""Tables of held-out results: false alarms by harmless source, what is caught by harmful source, at each bound."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from .lanes import LABELS, LANE
from .metrics import auroc, auroc_interval, wilson
from .rows import ROLES, Row
from .thresholds import BOUNDS, Threshold, choose, class_of, harmless_sources, stopped


def lane_for(row: Row) -> str | None:
    """The lane that should find a harmful row; none where no single one is meant."""
    if row.role == 'assistant' and row.unsafe == 1:
        return 'harmful_answer'
    for attack in ('jailbreak', 'prompt_injection'):
        if row.labels.get(attack) == 1:
            return attack
    if row.kind == 'comment':
        return next((label for label in ('hate', 'harassment', 'profanity') if row.labels.get(label) == 1), None)
    return 'harmful_request' if row.unsafe == 1 else None


def caught(rows: list[Row], pieces: np.ndarray, logits: np.ndarray, found: list[Threshold]) -> list[dict[str, object]]:
    """By harmful source, language and lane.

    How many, AUROC against the harmless texts, and what is caught at each bound.
    """
    at = {(t.lane, t.said, t.lengths, t.bound): t.score for t in found}
    members: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        lane = lane_for(row)
        if lane is not None:
            members[row.source, lane, 'all'].append(i)
            if row.source in ('multijail', 'jade'):
                members[row.source, lane, row.language].append(i)
    clean = harmless_sources(rows)
    harmless_of = {
        role: np.array([i for i, row in enumerate(rows) if row.source in clean and row.role == role], np.int64)
        for role in ROLES
    }
    table: list[dict[str, object]] = []
    for (source, lane, language), which in sorted(members.items()):
        said = rows[which[0]].role
        scores, harmless = logits[which, LANE[lane]], logits[harmless_of[said], LANE[lane]]
        line: dict[str, object] = {
            'source': source,
            'lane': lane,
            'said': said,
            'language': language,
            'rows': len(which),
            'auroc': round(auroc(scores, harmless), 4),
            'auroc_95': [round(x, 4) for x in auroc_interval(scores, harmless)],
        }
        for bound in BOUNDS:
            hits = sum(
                logits[i, LANE[lane]] > at.get((lane, said, class_of(int(pieces[i])), bound), np.inf) for i in which
            )
            line[f'caught_at_{bound}'] = round(float(hits) / len(which), 4)
            line[f'caught_at_{bound}_95'] = [round(x, 4) for x in wilson(int(hits), len(which))]
        table.append(line)
    return table


def own_negatives(rows: list[Row], logits: np.ndarray) -> list[dict[str, object]]:
    """By source and category with both answers: AUROC against the source's own negatives."""
    table: list[dict[str, object]] = []
    by_source: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        by_source[row.source].append(i)
    for source, which in sorted(by_source.items()):
        for label in (*LABELS, 'unsafe'):
            says = {i: rows[i].unsafe if label == 'unsafe' else rows[i].labels.get(label) for i in which}
            lane = 'harmful_answer' if label == 'unsafe' and rows[which[0]].role == 'assistant' else label
            yes = logits[[i for i in which if says[i] == 1], LANE[lane]]
            no = logits[[i for i in which if says[i] == 0], LANE[lane]]
            if len(yes) >= 20 and len(no) >= 20:
                table.append(
                    {
                        'source': source,
                        'category': label,
                        'positive': len(yes),
                        'negative': len(no),
                        'auroc': round(auroc(yes, no), 4),
                        'auroc_95': [round(x, 4) for x in auroc_interval(yes, no)],
                    }
                )
    return table


# The lanes that may stop what each role says; profanity and misinformation are told, not stopped.
DECIDING: dict[str, tuple[str, ...]] = {
    'user': ('harmful_request', 'jailbreak', 'prompt_injection', 'hate', 'self_harm'),
    'tool': ('prompt_injection',),
    'assistant': ('harmful_answer', 'hate'),
}


def shares_stopped(rows: list[Row], pieces: np.ndarray, logits: np.ndarray) -> list[dict[str, object]]:
    """By source, role and whether harmful.

    The share that any deciding lane stops, where all of them together hold the bound.
    """
    table: list[dict[str, object]] = []
    for said, lanes in DECIDING.items():
        found = choose(rows, pieces, logits, lanes, said, together=True)
        members: dict[tuple[str, bool], list[int]] = defaultdict(list)
        for i, row in enumerate(rows):
            if row.role == said and (row.harmful or row.benign):
                members[row.source, row.harmful].append(i)
        out = {bound: stopped(rows, pieces, logits, found, bound) for bound in BOUNDS}
        for (source, harmful), which in sorted(members.items(), key=lambda item: (item[0][1], item[0][0])):
            line: dict[str, object] = {'source': source, 'said': said, 'harmful': harmful, 'rows': len(which)}
            for bound in BOUNDS:
                hits = int(out[bound][which].sum())
                line[f'stopped_at_{bound}'] = round(hits / len(which), 4)
                line[f'stopped_at_{bound}_95'] = [round(x, 4) for x in wilson(hits, len(which))]
            table.append(line)
    return table


def summary(rows: list[Row], pieces: np.ndarray, logits: np.ndarray) -> dict[str, list[dict[str, Any]]]:
    """Everything that is printed and kept of pooled held-out scores."""
    lanes = (
        'harmful_request',
        'jailbreak',
        'prompt_injection',
        'hate',
        'harassment',
        'profanity',
        'unsafe',
        'harmful_answer',
    )
    found = [t for said in ROLES for t in choose(rows, pieces, logits, lanes, said)]
    return {
        'thresholds': [vars(t) for t in found],
        'caught': caught(rows, pieces, logits, found),
        'own_negatives': own_negatives(rows, logits),
        'stopped': shares_stopped(rows, pieces, logits),
    }


def print_summary(told: dict[str, list[dict[str, Any]]]) -> None:
    """The tables, for people."""

    def shares(line: dict[str, Any], name: str) -> str:
        return '  '.join(f'{line[f"{name}_at_{bound}"]:6.1%}' for bound in BOUNDS)

    for line in told['caught']:
        of = f'{line["source"]:24}{line["lane"]:18}{line["said"]:10}{line["language"]:5}{line["rows"]:6}'
        print(f'{of}  AUROC {line["auroc"]:.3f}  caught at 0.5, 1, 2 %: {shares(line, "caught")}')
    for line in told['own_negatives']:
        of = f'{line["source"]:24}{line["category"]:18}{line["positive"]:6} /{line["negative"]:6}'
        print(f'{of}  AUROC {line["auroc"]:.3f}')
    for line in told['stopped']:
        of = f'{line["source"]:28}{line["said"]:10}{"harmful " if line["harmful"] else "harmless"}{line["rows"]:6}'
        print(f'{of}  stopped at 0.5, 1, 2 %: {shares(line, "stopped")}')
    for t in told['thresholds']:
        if t['bound'] == 0.01:
            at = f'{t["lane"]:18}{t["said"]:10}{t["lengths"]:14} at {t["score"]:7.3f}'
            print(f'{at}: mean {t["mean"]:.2%}, worst {t["worst"]} {t["worst_share"]:.1%}')
