"""Sets the confidences of weights, whatever they learnt last: of each role, beside guards, and what is told of them.

All are measured anew on the weights themselves, by rows that nothing learnt from. Nothing is carried over from weights before: a curve
that was carried five times had drawn some groups out beyond all texts.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from . import calibration, second
from .answered import ANSWERS
from .apart import aside, beside_guards
from .asked import ASKED
from .base import new_encoder
from .batches import Plan, chosen
from .composed import WRITTEN as ORDERS
from .composed import kept_back
from .dataset import Dataset, load
from .guard_told import pairs_told
from .lanes import LANE
from .metrics import wilson
from .model import Encoder
from .rows import Row
from .runs import Options, last_round
from .scoring import score
from .ship import load_encoder
from .thresholds import harmless_sources

LENGTH = 128
WINDOWS = 6
# So many rows of a source are scored, of sources that hold nothing harmful, and of honest rows that come close to harm.
KNOWN, NEAR = 200, 1500
# A prompt by itself, as a tool's words, is whatever one takes it for: it sets no threshold there.
NOT_SAID = {'tool': ('prompt',)}
STOPPED = 0.4


def calibrate(options: Options, checkpoint: Path | None) -> dict[str, object]:
    """Measures the confidences of a checkpoint, or of the weights to start from where there is none; leaves `calibration.json`.

    :raises FileNotFoundError: the classifier's scores are not there (`second.read`)
    """
    data = load(options.work)
    if checkpoint is None and options.start is not None:
        model, _ = new_encoder(options.work, options.settings, options.seed, options.start)
        model.eval()
    else:
        model, _ = load_encoder(options.work, checkpoint or last_round(options.work))
    # The classifier has not learnt what is kept back of all that was written one at a time: what it says of that is told as it ships.
    written = [row for row in data.rows if row.source.startswith(('written:', ORDERS)) and row.guard == '']
    seconds = second.read(options.work, written)
    knots = {}
    tables: list[dict[str, object]] = []
    for role in calibration.GROUPS:
        knots[role], table = of_role(role, data, model, seconds)
        tables += table
    pairs = pairs_told(model, data, options.windows)
    told = {
        **calibration.manifest({**knots, 'guarded': pairs.pop('knots')}),
        **pairs,
        'by_source': tables,
        'asked': caught(data, model, knots, seconds),
    }
    (options.work / 'calibration.json').write_text(json.dumps(told, indent=1))
    return told


def of_role(
    role: str, data: Dataset, model: Encoder, seconds: second.Seconds
) -> tuple[dict[str, dict[str, list[list[float]]]], list[dict[str, object]]]:
    """:returns: the knots of a role, and by source the shares of harmless texts that reach them"""
    known, near = harmless_rows(role, data, seconds)
    rows = [replace(data.rows[int(i)], role=role) for i in known]
    pieces = np.array([len(data.pieces(int(i))) for i in known])
    logits = seconds.added(rows, score(model, data, known, LENGTH, WINDOWS, role=role).logits)
    knots = calibration.calibrate(role, rows, pieces, logits)
    twins = [data.rows[int(i)] for i in near]
    said = seconds.added(twins, score(model, data, near, LENGTH, WINDOWS).logits)
    lanes = {group: LANE[lane] for group, (lane, _) in calibration.GROUPS[role].items()}
    knots = calibration.beside_twins(
        knots,
        {group: said[:, lane] for group, lane in lanes.items()},
        calibration.even_weights([row.source for row in twins]),
        calibration.TWINS[role],
    )
    knots = calibration.sound(knots)
    pieces_near = np.array([len(data.pieces(int(i))) for i in near])
    told = np.concatenate(
        [
            calibration.confidences({role: knots}, rows, pieces, logits),
            calibration.confidences({role: knots}, twins, pieces_near, said),
        ]
    )
    return knots, by_source(rows + twins, told)


def harmless_rows(role: str, data: Dataset, seconds: second.Seconds) -> tuple[np.ndarray, np.ndarray]:
    """Rows that neither reader learnt from and that such a speaker may say.

    :returns: those of sources that hold nothing harmful; those that come close to harm: written honest twins, and the harmless
        side of mixed sources
    """
    clean = harmless_sources(data.rows)
    back = np.array([row.source == ORDERS and kept_back(row) for row in data.rows])
    free = (aside(data) | back) & ~beside_guards(data)
    free &= np.array([row.benign and seconds.knows(row) for row in data.rows])
    said = np.array([row.kind not in NOT_SAID.get(role, ()) for row in data.rows])
    plain = np.array([row.source in clean for row in data.rows])
    own = np.array([row.role == role for row in data.rows])
    known, _ = chosen(data, Plan(np.flatnonzero(free & said & plain), 11, KNOWN), 0)
    near, _ = chosen(data, Plan(np.flatnonzero(free & own & ~plain), 17, NEAR), 0)
    return np.sort(known), np.sort(near)


def by_source(rows: list[Row], told: np.ndarray) -> list[dict[str, object]]:
    """By source and role: the shares that are shown, stopped and forbidden."""
    members: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        members[row.role, row.source].append(i)
    table: list[dict[str, object]] = []
    for (role, source), which in sorted(members.items()):
        line: dict[str, object] = {'source': source, 'role': role, 'rows': len(which)}
        for name, least in (('shown', 0.25), ('stopped', 0.4), ('forbidden', 0.75)):
            hits = int((told[which] >= least).sum())
            line[name] = round(hits / len(which), 4)
            line[f'{name}_95'] = [round(x, 4) for x in wilson(hits, len(which))]
        table.append(line)
    return table


def caught(
    data: Dataset, model: Encoder, knots: dict[str, dict[str, dict[str, list[list[float]]]]], seconds: second.Seconds
) -> dict[str, object]:
    """Of written rows that are kept back, by what they are: how many there are and the share that is stopped."""
    sources = (*ASKED, ANSWERS)
    which = np.flatnonzero(aside(data) & np.array([row.source in sources for row in data.rows]))
    rows = [data.rows[int(i)] for i in which]
    pieces = np.array([len(data.pieces(int(i))) for i in which])
    logits = seconds.added(rows, score(model, data, which, LENGTH, WINDOWS).logits)
    told = calibration.confidences(knots, rows, pieces, logits)
    table: dict[str, object] = {}
    for source in sources:
        for harmful in (True, False):
            mine = np.array([row.source == source and bool(row.labels) == harmful for row in rows])
            name = f'{source.removeprefix("written:")}, {"harmful" if harmful else "honest"}'
            table[name] = {'rows': int(mine.sum()), 'stopped': round(float((told[mine] >= STOPPED).mean()), 4) if mine.any() else None}
    return table
