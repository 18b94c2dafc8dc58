"""Rows that the project's grammars write: requests for harm and their harmless twins, from `config/models/grammar`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .rows import Row, read_rows

SCRIPT = Path(__file__).parent.parent / 'grammar-rows.mjs'


def grammar_rows(folder: Path, seed: int) -> list[Row]:
    """Writes the rows to `folder` and reads them."""
    out = folder / f'grammar-{seed}.jsonl'
    subprocess.run(['node', str(SCRIPT), '--seed', str(seed), '--out', str(out)], check=True)
    return list(read_rows(out))
