"""The linear reader of `src/classifier`, trained and measured on the same rows: what the encoder has to beat."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np

from .rows import Row

SCRIPT = Path(__file__).parent.parent / 'linear-baseline.mjs'


def linear_scores(learnt: list[Row], held: list[Row], work: Path, seed: int) -> np.ndarray:
    """:returns: (held rows, lanes) scores of a linear model that learnt from the other rows"""
    source, out = work / 'linear-rows.jsonl', work / 'linear-scores.jsonl'
    with source.open('w') as file:
        for row, is_held in [(row, False) for row in learnt] + [(row, True) for row in held]:
            data: dict[str, object] = {
                'text': row.text,
                'labels': row.labels,
                'source': row.source,
                'kind': row.kind,
                'held': is_held,
            }
            if row.unsafe is not None:
                data['unsafe'] = row.unsafe
            if row.role != 'user':
                data['role'] = row.role
            file.write(json.dumps(data) + '\n')
    subprocess.run(
        [
            'node',
            '--max-old-space-size=6000',
            str(SCRIPT),
            '--rows',
            str(source),
            '--out',
            str(out),
            '--seed',
            str(seed),
        ],
        check=True,
    )
    scores = np.array([json.loads(line) for line in out.read_text().split('\n') if line], np.float32)
    source.unlink()
    out.unlink()
    return scores
