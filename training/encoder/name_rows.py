"""Sentences with names in known places, made from templates (`names/*.txt`) and from lists (`name_lists.py`).

A template's slots: {P} a person's full name, {F} first name, {S} surname, {L} city, region or landmark, {C} country,
{O} organisation; without a label {X} an ordinary thing, {D} a date, {N} a number, {E} an address, {T} a telephone number.
Lines that begin with `@L` and `@O` list more places and organisations, lines with `= ` ordinary things. One line in five is
held back; lines with `+ ` are always learnt from, lines with `? ` never: both came after the first fit was looked at.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .name_lists import LANGUAGES, Names, jobs, listed_companies, messages, pick, read_names, schools

FOLDER = Path(__file__).parent.parent / 'names'
KINDS = ('person', 'place', 'organisation')
TAGS = ('O', *(f'{mark}-{kind}' for kind in KINDS for mark in 'BI'))
KIND_OF = {'P': 'person', 'F': 'person', 'S': 'person', 'L': 'place', 'C': 'place', 'O': 'organisation'}
SLOT = re.compile(r'\{([A-Z])\}')
# Languages that nothing is learnt from.
HELD_LANGUAGES = frozenset({'cs', 'th'})
ARTICLE = re.compile(r"(?:the|der|die|das|la|le|les|el|los|il|lo|gli|o|os|a|as|de|het) |l'", re.IGNORECASE)


@dataclass(frozen=True)
class Label:
    """Where a name stands: characters of the text."""

    start: int
    end: int
    kind: str


@dataclass
class NameRow:
    """A text and all names in it."""

    text: str
    labels: list[Label]
    language: str
    role: str = 'user'


@dataclass
class Templates:
    """What a language's file holds, of one half."""

    sentences: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    things: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    organisations: list[str] = field(default_factory=list)


def half(lines: list[str], held: bool) -> list[str]:
    """Of each kind of line in a file one in five is held back, at least one of three; the order is their hashes'."""
    ordered = sorted(lines, key=lambda line: hashlib.sha256(line.encode()).digest())
    first = -(-len(ordered) // 5) if len(ordered) > 2 else 0
    return ordered[:first] if held else ordered[first:]


def read_templates(code: str, held: bool) -> Templates:
    """The templates of a language, those that are learnt from or those that are held back, whole."""
    lines = [line for line in (FOLDER / f'{code}.txt').read_text().split('\n') if line != '']
    named, bare = sorted_out([line for line in lines if line[0] not in '@=+?'])
    # Of these the mark says which half they are of.
    mark = '? ' if held else '+ '
    more = sorted_out([line[2:] for line in lines if line.startswith(mark)])
    listed = {mark: [n.strip() for line in lines if line[:2] == mark for n in line[2:].split(',')] for mark in ('@L', '@O')}
    things = half([line[2:] for line in lines if line.startswith('= ')], held)
    if held and code in HELD_LANGUAGES:
        return Templates(named, bare, things, listed['@L'], listed['@O'])
    sentences, rest = half(named, held) + more[0], half(bare, held) + more[1]
    return Templates(sentences, rest, things, half(listed['@L'], held), half(listed['@O'], held))


def sorted_out(lines: list[str]) -> tuple[list[str], list[str]]:
    """Templates with names, and those without."""
    texts = [line.replace('\\n', '\n') for line in lines]
    named = [text for text in texts if any(slot in KIND_OF for slot in SLOT.findall(text))]
    return named, [text for text in texts if text not in named]


class Writer:
    """Writes rows of one language, of one half."""

    def __init__(self, code: str, held: bool, others: list[Names], random: np.random.Generator) -> None:
        self.code, self.held, self.random = code, held, random
        self.names = read_names(code, held)
        # Foreigners and their cities, written as at home: only where the letters are the same.
        self.others = others
        self.templates = read_templates(code, held)
        self.listed = listed_companies(held)
        self.messages = messages(code, held)
        self.templates.things += jobs(code, held)
        self.schools = schools(held)
        if code != 'en':
            own = read_templates('en', held)
            self.templates.things = self.templates.things or own.things
            # Companies of the world are called the same everywhere.
            self.world = [o for o in own.organisations if '{' not in o and not o.startswith('the ')]
        else:
            self.world = self.templates.organisations

    def row(self) -> NameRow:
        """One to four templates, told one after another."""
        r = self.random
        text, labels = '', []
        for _ in range(int(r.choice([1, 2, 3, 4], p=[0.45, 0.3, 0.15, 0.1]))):
            if text != '':
                text += pick(r, [' ', ' ', '\n', '\n\n'])
            made, found = self.fill(self.template())
            labels += [Label(n.start + len(text), n.end + len(text), n.kind) for n in found]
            text += made
        role = pick(r, ['user'] * 5 + ['assistant'] * 3 + ['tool', 'system'])
        return NameRow(text, labels, self.code, role)

    def template(self) -> str:
        """A template; a sentence that names nobody; or such a sentence with a name thrown in, so that not the template tells."""
        r = self.random
        way = r.random()
        if self.messages and way < 0.2:
            return pick(r, self.messages)
        # What is measured is how well templates are read.
        if self.messages and way < 0.45 and not self.held:
            slot = '{' + pick(r, ['P', 'P', 'P', 'F', 'L', 'O']) + '}'
            words = pick(r, self.messages).split(' ')
            at = int(r.integers(len(words) + 1))
            around = pick(r, ['{}', '{}', '{}', '({})', '{},', '"{}"', '- {}', '{}:'])
            return ' '.join([*words[:at], around.replace('{}', slot), *words[at:]])
        if way < 0.6 and self.templates.bare:
            return pick(r, self.templates.bare)
        return pick(r, self.templates.sentences or self.templates.bare)

    def fill(self, template: str) -> tuple[str, list[Label]]:
        """A template with names in its slots."""
        text, labels, at = '', [], 0
        # Surnames and first names of one text come from one people, as a rule.
        people = self.people()
        for slot in SLOT.finditer(template):
            text += template[at : slot.start()]
            at = slot.end()
            made, skip = self.slot(slot[1], people)
            kind = KIND_OF.get(slot[1])
            if kind is not None:
                labels.append(Label(len(text) + skip, len(text) + len(made), kind))
            text += made
        return text + template[at:], labels

    def people(self) -> tuple[list[str], list[str], str]:
        """First names and surnames of one locale, and their order."""
        r = self.random
        names = self.names
        if self.others and r.random() < 0.15:
            names = self.others[int(r.integers(len(self.others)))]
        i = int(r.integers(len(names.first)))
        return names.first[i], names.last[i], names.order

    def slot(self, kind: str, people: tuple[list[str], list[str], str]) -> tuple[str, int]:
        """What stands in a slot, and how much of its beginning is no part of the name (an article)."""
        r = self.random
        first, last, order = people
        if kind == 'P':
            return self.person(first, last, order), 0
        if kind == 'F':
            return pick(r, first), 0
        if kind == 'S':
            return pick(r, last), 0
        if kind == 'L':
            return self.place()
        if kind == 'C':
            return pick(r, self.names.countries), 0
        if kind == 'O':
            return self.organisation()
        if kind == 'X':
            return pick(r, self.templates.things), 0
        n = [int(x) for x in r.integers(1, 10, 12)]
        if kind == 'D':
            return pick(r, [f'{n[0]}.{n[1]}.20{n[2]}{n[3]}', f'20{n[0]}{n[1]}-0{n[2]}-1{n[3]}', f'{n[0]}/1{n[1] % 3}/202{n[2] % 6}']), 0
        if kind == 'N':
            return str(int(r.choice([n[0], n[0] * 10 + n[1], 1900 + n[0] * 10, n[0] * 1000 + n[1]]))), 0
        if kind == 'T':
            return '+' + ''.join(map(str, n[:2])) + ' ' + ''.join(map(str, n[2:9])), 0
        return f'{pick(r, ["info", "office", "contact", "a.b", "sales", "me"])}{n[0]}@example.{pick(r, ["com", "org", "net"])}', 0

    def person(self, first: list[str], last: list[str], order: str) -> str:
        """A full name, in one of the ways in which people write theirs."""
        r = self.random
        given, family = pick(r, first), pick(r, last)
        if order == 'lastfirst':
            return f'{family}{given}' if r.random() < 0.85 else f'{family} {given}'
        if order == 'last first':
            middle = f' {pick(r, first)}' if r.random() < 0.4 else ''
            return f'{family}{middle} {given}'
        way = r.random()
        initial = pick(r, first)[0]
        if way < 0.08:
            return f'{given} {initial}. {family}'
        if way < 0.12:
            return f'{given[0]}. {family}'
        if way < 0.16:
            return f'{family}, {given}'
        if way < 0.22:
            return f'{given} {pick(r, first)} {family}'
        if way < 0.26:
            return f'{given} {family}-{pick(r, last)}'
        return f'{given} {family}'

    def place(self) -> tuple[str, int]:
        """A city, a region, a country, a landmark; how long its article is."""
        r = self.random
        way = r.random()
        if way < 0.2 and self.templates.places:
            return self.bare(pick(r, self.templates.places))
        if way < 0.3 and self.names.far:
            return pick(r, self.names.far), 0
        if way < 0.38:
            return pick(r, self.names.countries), 0
        return pick(r, self.names.places or self.names.countries), 0

    def organisation(self) -> tuple[str, int]:
        """A company, a school, an authority, a party, a club; how long its article is."""
        r = self.random
        way = r.random()
        if way < 0.2:
            return pick(r, self.names.companies), 0
        if way < 0.42:
            return pick(r, self.listed), 0
        if way < 0.5:
            return pick(r, self.schools), 0
        if way < 0.58 and self.world:
            return self.composed(pick(r, self.world))
        return self.composed(pick(r, self.templates.organisations or self.listed))

    def composed(self, pattern: str) -> tuple[str, int]:
        """An organisation named after a place or a person."""
        first, last, order = self.people()
        filled = SLOT.sub(lambda s: self.slot(s[1], (first, last, order))[0], pattern)
        return self.bare(filled)

    def bare(self, name: str) -> tuple[str, int]:
        """An article is said, and is no part of the name."""
        article = ARTICLE.match(name)
        if article is None or self.code in ('en',) and name[0] == 'T':
            return name, 0
        return name, article.end()


def shaped(row: NameRow, random: np.random.Generator) -> NameRow:
    """As people type: now and then all in small letters, or all in capitals."""
    way = random.random()
    if way >= 0.12:
        return row
    text = row.text.lower() if way < 0.08 else row.text.upper()
    # Some letters become two.
    return row if len(text) != len(row.text) else NameRow(text, row.labels, row.language, row.role)


def code_lines(random: np.random.Generator, count: int) -> list[NameRow]:
    """Lines of installed Python code, which name nobody: identifiers in capitals are no names."""
    import sysconfig

    files = sorted(Path(sysconfig.get_paths()['stdlib']).glob('*.py'))
    people = re.compile(r'author|copyright|©|@|\bby\b|licen[cs]e|contribut|#|"""|\'\'\'', re.IGNORECASE)
    rows = []
    while len(rows) < count:
        lines = files[int(random.integers(len(files)))].read_text(errors='ignore').split('\n')
        at = int(random.integers(max(1, len(lines) - 8)))
        part = [line for line in lines[at : at + 8] if not people.search(line)]
        if sum(map(len, part)) > 40:
            rows.append(NameRow('\n'.join(part), [], 'code', pick(random, ['user', 'assistant', 'tool'])))
    return rows


# How much of what is learnt is in a language; the others have one share each.
SHARES = {'en': 6, 'de': 2, 'fr': 2, 'es': 2, 'zh': 1.5, 'ja': 1.5, 'pt': 1.5, 'ru': 1.5}


def write_rows(count: int, held: bool, seed: int) -> list[NameRow]:
    """About so many rows over all languages.

    :param held: with the templates and the names that are held back; each language alike
    """
    random = np.random.default_rng(seed + 1000 * held)
    codes = [code for code in LANGUAGES if held or code not in HELD_LANGUAGES]
    latin = [read_names(code, held) for code in ('en', 'de', 'es', 'tr', 'pl', 'id')]
    shares = np.array([1.0 if held else SHARES.get(code, 1.0) for code in codes])
    rows: list[NameRow] = []
    for code, share in zip(codes, shares / shares.sum(), strict=True):
        others = latin if LANGUAGES[code].script == '' else []
        writer = Writer(code, held, others, random)
        for _ in range(round(count * share)):
            row = writer.row()
            rows.append(row if held else shaped(row, random))
    if not held:
        rows += code_lines(random, count // 12)
    return rows
