"""Written rows of what people say to models: requests, jailbreaks and remarks, harmful and honest in the same words, and ordinary chats."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from .lanes import LABELS
from .paged import paged
from .pairs import Prompt
from .rows import Row

REQUESTS, JAILBREAKS, REMARKS = 'written:requests', 'written:jailbreaks', 'written:remarks'
# Requests in languages other than English: a source of their own, because the corpora hold harm and little else in some of them.
ABROAD = 'written:abroad'
ASKED = (REQUESTS, JAILBREAKS, REMARKS, ABROAD)
# What honest users of products say: short words in the middle of a chat, of which the corpora hold few.
CHATS = 'written:chats'
WRITTEN = Path(__file__).parent.parent / 'written' / 'requests'


def written_rows() -> list[Row]:
    """The rows of `training/written/requests`.

    :raises ValueError: a line is no such row, with its place
    """
    made: list[Row] = []
    for file, place, data in lines(WRITTEN):
        source = next((one for one in ASKED if file.stem.startswith(one.removeprefix('written:'))), REQUESTS)
        one = row(data, place, source, 'comment' if source == REMARKS else 'prompt')
        made.append(one)
        # A long honest text is a document that somebody pastes. An epoch learns one window of a row, and so each page is a row too.
        cut = paged(one.text) if one.unsafe == 0 else []
        if len(cut) > 1:
            made += [replace(one, text=page) for page in cut]
    return made


def chat_rows(found: list[Prompt]) -> list[Row]:
    """What honest users said to written prompts, without these: harmless in every respect that `lanes.OF_ITS_PROMPT` does not name."""
    return [Row(text, CHATS, 'prompt', {}, 0, 'user', prompt.language, key=prompt.key) for prompt in found for text in prompt.honest]


def lines(folder: Path) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    """The lines of all written files in a folder: the file, the place of the line for messages, and what it holds."""
    for file in sorted(folder.glob('*.jsonl')):
        for number, line in enumerate(file.read_text().split('\n'), 1):
            if line:
                yield file, f'{file}:{number}', json.loads(line)


def row(data: dict[str, Any], place: str, source: str, said: str) -> Row:
    """A line of a written file as a user's words; `said`: the kind of the row.

    :raises ValueError: it is no such row
    """
    text, kind = data.get('text'), data.get('kind')
    if not isinstance(text, str) or kind not in (*LABELS, None):
        raise ValueError(f'{place} is no row: {{text, kind: a category or null, language}}')
    # An order against a model's instructions need not be after anything else.
    unsafe = 0 if kind is None else None if kind == 'prompt_injection' else 1
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Row(text, source, said, {} if kind is None else {kind: 1}, unsafe, 'user', data['language'], key=key)
