"""The rows that the encoder is trained on and measured with, and the reading of the corpora that hold them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROLES = ('user', 'assistant', 'tool', 'system')
# Sources of remarks that are told as an assistant's (`answered.py`): this before the name of the remark's own.
SAID = 'said:'


@dataclass(frozen=True)
class Row:
    """One text. A label left out is unknown; `unsafe` 0 with no labels is harmless in every respect."""

    text: str
    source: str
    kind: str
    labels: dict[str, int] = field(default_factory=dict)
    unsafe: int | None = None
    role: str = 'user'
    language: str = 'en'
    key: str = ''
    # Where in a long text the label was earned, if the corpus says so: start, middle or end.
    position: str = ''
    # Sentences of the operator's prompt that keep something: what the text is judged against (`guarded.py`).
    guard: str = ''

    @property
    def origin(self) -> str:
        """The source that annotated it, whoever is told to say it."""
        return self.source.removeprefix(SAID)

    @property
    def benign(self) -> bool:
        """Harmless in every respect: what false alarms are counted on."""
        return self.unsafe == 0 and not any(self.labels.values())

    @property
    def harmful(self) -> bool:
        """Something that some lane should find: personal data and secrets are none of them."""
        return self.unsafe == 1 or any(value for name, value in self.labels.items() if name not in ('pii', 'secrets'))


@dataclass
class Corpus:
    """All rows of one folder, with what a manifest says of them."""

    rows: list[Row]
    sha256: str
    licences: dict[str, str]


def role_of(context: dict[str, object]) -> str:
    """Who speaks: a role that the project does not know counts as the user's."""
    role = str(context.get('role', 'user'))
    return role if role in ROLES else 'user'


# Documents with instructions hidden in them, for a model that was asked about them: what tools bring.
FROM_TOOLS = {'bipia', 'benign_agent_traces'}


def settled(source: str, kind: str, role: str, injected: bool) -> str:
    """The role of a row as it is kept: the corpus' own, or what its source means."""
    if role != 'user':
        return role
    return 'tool' if source in FROM_TOOLS or (source == 'synth_pi' and kind == 'document' and injected) else role


def parse(line: str) -> tuple[Row, str]:
    """:returns: the row of a line, and its licence"""
    data = json.loads(line)
    context = data.get('context') or {}
    labels = {name: int(value) for name, value in data.get('labels', {}).items()}
    # MLCommons counts indiscriminate weapons as a hazard of their own, which these labels file under illicit.
    if context.get('hazard') == 'iwp':
        labels['weapons'] = 1
    row = Row(
        text=data['text'],
        source=data['source'],
        kind=data['kind'],
        labels=labels,
        unsafe=data.get('unsafe'),
        role=settled(data['source'], data['kind'], role_of(context), labels.get('prompt_injection') == 1),
        language=str(context.get('lang', 'en')),
        key=str(data.get('id', '')),
        position=str(context.get('position') or ''),
    )
    return row, str(data.get('license', 'own work'))


def read_corpus(folder: Path) -> Corpus:
    """Reads every `*.jsonl` in a folder, in the order of their names.

    :raises FileNotFoundError: the folder holds none
    """
    files = sorted(folder.glob('*.jsonl'))
    if not files:
        raise FileNotFoundError(f'{folder} holds no .jsonl file')
    digest = hashlib.sha256()
    corpus = Corpus([], '', {})
    for file in files:
        data = file.read_bytes()
        digest.update(file.name.encode() + data)
        for line in data.decode().split('\n'):
            if line:
                row, licence = parse(line)
                corpus.rows.append(row)
                corpus.licences[row.source] = licence
    corpus.sha256 = digest.hexdigest()
    return corpus


def read_rows(file: Path) -> Iterator[Row]:
    """The rows of one file of JSON lines, as the grammars' script writes them."""
    for line in file.read_text().split('\n'):
        if line:
            yield parse(line)[0]
