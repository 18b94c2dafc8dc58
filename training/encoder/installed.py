"""Code, configuration and logs of packages that are installed on this machine: harmless rows, never kept.

Packages are dealt by a hash of their name: three in four are trained on, the others are left for measuring.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from pathlib import Path

import numpy as np

from .rows import Row

KINDS: dict[str, frozenset[str]] = {
    'code': frozenset(
        '.js .mjs .cjs .ts .tsx .py .c .h .cpp .go .rs .java .pl .pm .sh .rb .php .sql .css .lua .awk'.split()
    ),
    'configuration': frozenset(
        '.json .yaml .yml .toml .ini .cfg .conf .cnf .service .xml .properties .rules .list'.split()
    ),
    'text': frozenset('.md .rst .txt .html .htm .log'.split()),
}
# Lists of words and corpora of abuse, whose files are not harmless, and tests of filters.
NOT_HARMLESS = re.compile(r'profan|swear|bad-?words|toxic|slur|hate|offens|moderat|fuzz|payload|exploit|emoji', re.I)
REQUESTS = (
    'Explain this',
    'What does this do?',
    'Fix the bug',
    'Refactor this please',
    'Review this',
    'Write a test for it',
    'Summarise this',
    'Is there a mistake in it?',
    'Add comments',
    'Translate to Python',
)
LARGEST = 400_000


def package_of(path: Path) -> str:
    """The package that a file belongs to, by its place.

    Npm's, Python's, else the folder below `share`, `lib` or `etc`.
    """
    parts = path.parts
    for mark, depth in (
        ('node_modules', 1),
        ('site-packages', 1),
        ('dist-packages', 1),
        ('doc', 1),
        ('share', 1),
        ('include', 1),
        ('etc', 1),
        ('lib', 2),
    ):
        if mark in parts:
            at = len(parts) - 1 - parts[::-1].index(mark)
            scoped = mark == 'node_modules' and at + 1 < len(parts) and parts[at + 1].startswith('@')
            return '/'.join(parts[at + 1 : at + 1 + depth + (1 if scoped else 0)]) or mark
    return parts[-2]


def held_out(package: str) -> bool:
    """One package in four is never trained on."""
    return hashlib.sha256(package.encode()).digest()[0] < 64


def installed_rows(folders: list[Path], seed: int, most: int = 3000, each: int = 12) -> list[Row]:
    """Pieces of files, 200 to 4,000 characters long.

    :param most: of each kind
    :param each: files of one package
    """
    random = np.random.default_rng(seed)
    found: dict[str, list[Path]] = defaultdict(list)
    per_package: dict[tuple[str, str], int] = defaultdict(int)
    files = [file for folder in folders if folder.exists() for file in folder.rglob('*')]
    files.sort(key=lambda file: hashlib.sha256(str(file).encode()).digest())
    for file in files:
        kind = next((k for k, ends in KINDS.items() if file.suffix in ends), None)
        if kind is None or len(found[kind]) >= most or NOT_HARMLESS.search(str(file)):
            continue
        package = package_of(file)
        if held_out(package) or per_package[package, kind] >= each or not file.is_file():
            continue
        if 200 <= file.stat().st_size <= LARGEST:
            per_package[package, kind] += 1
            found[kind].append(file)
    return [row for kind, paths in found.items() for path in paths if (row := _row(path, kind, random)) is not None]


def _row(path: Path, kind: str, random: np.random.Generator) -> Row | None:
    try:
        text = path.read_text('utf-8')
    except (UnicodeDecodeError, OSError):
        return None
    length = int(np.exp(random.uniform(np.log(200), np.log(4000))))
    start = int(random.integers(0, max(1, len(text) - length)))
    # From the start of a line, as people paste.
    start = text.rfind('\n', 0, start) + 1
    piece = text[start : start + length].strip()
    if len(piece) < 100:
        return None
    role = 'tool' if random.random() < 0.3 else 'user'
    if role == 'user' and random.random() < 0.4:
        piece = f'{REQUESTS[int(random.integers(len(REQUESTS)))]}:\n\n```\n{piece}\n```'
    return Row(text=piece, source=f'installed:{kind}', kind='document', unsafe=0, role=role)
