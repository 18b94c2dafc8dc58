"""What the encoder that ships says of texts at hand, for the first reader to learn which of them it should raise.

A gateway has the encoder read a page of a long text by itself, and so do these rows: a document is cut into pages. The serving
program is asked, so that the teacher says what a gateway would hear, the classifier's scores and the confidences included.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np

from .apart import beside_guards, is_aside
from .batches import Plan, chosen
from .composed import kept_back
from .dataset import load
from .paged import paged
from .rows import Row
from .runs import Options

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / 'training' / 'encoder-says.mjs'
# Pages that are taken of one text.
PAGES = 3


def teach(options: Options, out: Path, most: int, roles: tuple[str, ...]) -> None:
    """Leaves JSON lines in `out`: `{text, source, kind, role, harmless, says, kept}`.

    `says` is the highest confidence (0 to 1) of anything that may stop such words. What a user may paste, a tool may bring:
    documents are there in both roles. Rows that no run learns from are `kept`: the first reader is measured on them.

    :param most: rows of a source, but for those that `options.whole` names
    :param roles: whose words are read
    """
    data = load(options.work)
    plan = Plan(np.flatnonzero(~beside_guards(data)), 13, most, whole=options.whole)
    which = np.sort(chosen(data, plan, 0)[0])
    random = np.random.default_rng((options.seed, 99))
    rows = [
        (replace(data.rows[int(i)], text=page, role=role), _is_measured(data.rows[int(i)]))
        for role in roles
        for i in which
        if _may_say(data.rows[int(i)], role, random)
        for page in pages(data.rows[int(i)].text, random)
    ]
    given, said = options.work / 'teach-rows.jsonl', options.work / 'teach-says.txt'
    with given.open('w') as file:
        for row, _ in rows:
            file.write(json.dumps({'role': row.role, 'text': row.text}) + '\n')
    print(f'{len(rows)} texts', flush=True)
    subprocess.run(['node', str(SCRIPT), '--rows', str(given), '--out', str(said)], check=True)
    with out.open('w') as file:
        for (row, kept), says in zip(rows, said.read_text().split(), strict=True):
            line = {'text': row.text, 'source': row.source, 'kind': row.kind, 'role': row.role, 'harmless': row.benign}
            line |= {'says': float(says), **({'kept': True} if kept else {})}
            file.write(json.dumps(line, ensure_ascii=False) + '\n')
    given.unlink()
    said.unlink()


def pages(text: str, random: np.random.Generator) -> list[str]:
    """A short text by itself; of a longer one some pages."""
    found = paged(text)
    if len(found) == 1:
        return found
    taken = sorted(random.permutation(len(found))[:PAGES])
    return [found[int(i)] for i in taken]


def _is_measured(row: Row) -> bool:
    return is_aside(row) or kept_back(row)


def _may_say(row: Row, role: str, random: np.random.Generator) -> bool:
    if role == 'user':
        return row.role in ('user', 'system')
    if role == 'tool':
        return row.role == 'tool' or row.kind in ('document', 'conversation') or random.random() < 0.1
    return row.role == 'assistant'
