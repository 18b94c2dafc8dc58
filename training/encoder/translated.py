"""Harmless rows in many languages: help pages and catalogues of translations of installed packages, never kept.

The corpora hold harmful requests in languages of which they hold little else (Bengali, Swahili, Thai, Javanese): from
those alone the encoder would learn the language instead of the harm. Translations of programs are harmless in about
ninety languages, and of pages in some thirty.
"""

from __future__ import annotations

import gettext
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from .installed import NOT_HARMLESS
from .rows import Row

# Rows of one language: pages, paragraphs of a catalogue, single phrases of one.
PAGES, PARAGRAPHS, PHRASES = 220, 60, 40
LANGUAGE = re.compile(r'^[a-z]{2,3}([_-][A-Za-z]{2,4})?$')
BLOCKS = {'p', 'h1', 'h2', 'h3', 'h4', 'li', 'td', 'th', 'pre', 'div', 'br'}
MARKS = {'h1': '# ', 'h2': '## ', 'h3': '### ', 'li': '- '}
SKIPPED = {'script', 'style', 'head', 'header', 'aside', 'nav', 'footer', 'noscript'}


class _Page(HTMLParser):
    """The text of a page, a line a block; headings and lists marked as in Markdown if asked for."""

    def __init__(self, marked: bool) -> None:
        super().__init__()
        self.marked, self.lines, self.line, self.skipped = marked, [''], '', 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in SKIPPED:
            self.skipped += 1
        if tag in BLOCKS:
            self._end()
            self.line = MARKS.get(tag, '') if self.marked else ''

    def handle_endtag(self, tag: str) -> None:
        if tag in SKIPPED:
            self.skipped = max(0, self.skipped - 1)
        if tag in BLOCKS:
            self._end()

    def handle_data(self, data: str) -> None:
        if self.skipped == 0:
            self.line += re.sub(r'\s+', ' ', data)

    def _end(self) -> None:
        if self.line.strip(' #-'):
            self.lines.append(self.line.strip())
        self.line = ''


def translated_rows(folders: list[Path], seed: int) -> list[Row]:
    """:param folders: where packages with translations are; see README. :returns: rows, the same for the same files"""
    random = np.random.default_rng((seed, 5))
    files = [file for folder in folders if folder.exists() for file in folder.rglob('*') if file.is_file()]
    files = [file for file in files if not NOT_HARMLESS.search(str(file))]
    files.sort(key=lambda file: hashlib.sha256('/'.join(file.parts[-6:]).encode()).digest())
    return _pages(files, random) + _catalogues(files, random)


def _pages(files: list[Path], random: np.random.Generator) -> list[Row]:
    rows: list[Row] = []
    count: dict[str, int] = {}
    for file in files:
        if file.suffix != '.html' or 'help' not in file.parts:
            continue
        language = file.parts[file.parts.index('help') + 1]
        if not LANGUAGE.match(language) or language == 'en-US' or count.get(language, 0) >= PAGES:
            continue
        page = _Page(marked=random.random() < 0.5)
        page.feed(file.read_text('utf-8', errors='replace'))
        text = '\n'.join(page.lines)
        length = int(np.exp(random.uniform(np.log(200), np.log(6000))))
        at = int(random.integers(0, max(1, len(text) - length)))
        piece = text[text.rfind('\n', 0, at) + 1 :][:length].strip()
        if len(piece) >= 120:
            count[language] = count.get(language, 0) + 1
            rows.append(Row(piece, 'installed:translated_pages', 'document', unsafe=0, language=language))
    return rows


def _catalogues(files: list[Path], random: np.random.Generator) -> list[Row]:
    phrases: dict[str, list[str]] = {}
    for file in files:
        if file.suffix != '.mo' or 'locale' not in file.parts:
            continue
        language = file.parts[len(file.parts) - 1 - file.parts[::-1].index('locale') + 1]
        if not LANGUAGE.match(language) or language.startswith('en'):
            continue
        with file.open('rb') as opened:
            catalogue: dict[object, str] = gettext.GNUTranslations(opened)._catalog  # type: ignore[attr-defined]
        for key, told in catalogue.items():
            said = str(key[0] if isinstance(key, tuple) else key)
            told = re.sub(r'%\([a-z_]+\)[a-z]|%[sd]|\{[a-z_]*\}', str(random.integers(2, 99)), told).strip()
            if len(told) >= 12 and told != said and 'Project-Id-Version' not in told:
                phrases.setdefault(language, []).append(told)
    rows: list[Row] = []
    for language, found in sorted(phrases.items()):
        known = sorted(set(found))
        if len(known) < 40:
            continue
        for _ in range(PARAGRAPHS):
            some = [known[int(i)] for i in random.integers(0, len(known), int(random.integers(3, 25)))]
            shape = random.random()
            text = ' '.join(some) if shape < 0.4 else '\n'.join(f'- {s}' for s in some) if shape < 0.7 else '\n\n'.join(some)
            rows.append(Row(text, 'installed:catalogues', 'document', unsafe=0, language=language))
        long = [told for told in known if 25 <= len(told) <= 300]
        for i in random.permutation(len(long))[:PHRASES]:
            rows.append(Row(long[int(i)], 'installed:phrases', 'prompt', unsafe=0, language=language))
    return rows
