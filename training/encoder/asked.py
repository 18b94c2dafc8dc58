"""Written rows of what people say to models: requests, jailbreaks and remarks, harmful and honest in the same words."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from .lanes import LABELS
from .rows import Row

REQUESTS, JAILBREAKS, REMARKS = 'written:requests', 'written:jailbreaks', 'written:remarks'
ASKED = (REQUESTS, JAILBREAKS, REMARKS)
WRITTEN = Path(__file__).parent.parent / 'written' / 'requests'


def written_rows() -> list[Row]:
    """The rows of `training/written/requests`.

    :raises ValueError: a line is no such row, with its place
    """
    made: list[Row] = []
    for file in sorted(WRITTEN.glob('*.jsonl')):
        for number, line in enumerate(file.read_text().split('\n'), 1):
            if line == '':
                continue
            data = json.loads(line)
            text, kind = data.get('text'), data.get('kind')
            if not isinstance(text, str) or kind not in (*LABELS, None):
                raise ValueError(f'{file}:{number} is no row: {{text, kind: a category or null, language}}')
            source = next((one for one in ASKED if file.stem.startswith(one.removeprefix('written:'))), REQUESTS)
            said = 'comment' if source == REMARKS else 'prompt'
            # An order against a model's instructions need not be after anything else.
            unsafe = 0 if kind is None else None if kind == 'prompt_injection' else 1
            key = hashlib.sha256(text.encode()).hexdigest()[:16]
            labels = {} if kind is None else {kind: 1}
            made.append(Row(text, source, said, labels, unsafe, 'user', data['language'], key=key))
    return made
