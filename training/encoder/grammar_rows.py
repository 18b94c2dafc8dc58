"""Rows that the project's grammars write: requests for harm and their harmless twins, from `config/models/grammar`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .rows import Row, read_rows

SCRIPT = Path(__file__).parent.parent / 'grammar-rows.mjs'


def grammar_rows(folder: Path, seed: int, dist: Path) -> list[Row]:
    """Writes the rows to `folder` and reads them.

    :param dist: the built program (`npm run build`)
    :raises FileNotFoundError: the program is not built
    """
    if not (dist / 'classifier/grammar/index.js').exists():
        raise FileNotFoundError(
            f'{dist} holds no built program: run "npm run build" first, or give its place by --dist'
        )
    out = folder / f'grammar-{seed}.jsonl'
    subprocess.run(['node', str(SCRIPT), '--dist', str(dist), '--seed', str(seed), '--out', str(out)], check=True)
    return list(read_rows(out))
