"""Written pairs: what real prompts keep, in ever new words, and what users say to them. See `training/written/README.md`.

Two things are learnt from them, by the layers that read texts beside guards. Which sentences of a prompt keep something: a
sentence by itself, beside an empty text. And whether a text goes for what these sentences keep. The gateway does the same
in this order (`src/encoder/guards.ts`).
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .rows import Row
from .windows import GUARD

SCRIPT = Path(__file__).parent.parent / 'written-pairs.mjs'
LANE = 'guarded'
# Sources: what is said beside kept sentences; honest words beside sentences that keep nothing; honest words that one prompt's users
# said to another bot; prompts of people; prompts of people beside rules of work, as real system prompts have them; sentences of prompts.
PAIRS, FREE, FOREIGN, ORDINARY, WORK, SENTENCES = (
    f'written:{name}' for name in ('pairs', 'free', 'foreign', 'ordinary', 'work', 'sentences')
)
# The gateway takes one sentence in eleven that keeps nothing for one that does. So of texts beside prompts too long to be read whole
# this share stands beside such sentences too, and what users say to prompts that keep nothing is learnt beside some of theirs.
MISTAKEN = 0.3
# One prompt in so many is kept back, with all that is said to it.
BACK = 6
# Files (`values.jsonl`, `values-2.jsonl`) of prompts that keep a value or facts, and nothing else: whatever other people ask of
# other bots is harmless there.
NARROW = ('people', 'records', 'secrets', 'values', 'vaults')
# A sentence of a corpus' system prompt that holds none of these limits nothing.
LIMITS = re.compile(
    r"\b(?:not|never|no|n't|don't|only|avoid|without|except|unless|must|secret|confidential|private|refuse|limit|always|instead|"
    r'forbid|restrict|ignore|keep|strict|sole|just|exclusively|nothing|none|under|stay|remain)\w*',
    re.I,
)
# Words by which a sentence may keep something from users, beyond telling the model how to work.
KEEPING = re.compile(
    r'reveal|disclos|discuss|shar(?:e|ing)|secret|confidential|private|privacy|tell (?:the )?user|respond only|only (?:answer|respond|help)|'
    r'off.?limits|refuse|decline|your (?:instructions|prompt|rules)|system prompt|in character|persona',
    re.I,
)


@dataclass(frozen=True)
class Prompt:
    """A system prompt in its sentences, and what is said to it. `keeps`: None where a sentence tells what is kept."""

    kind: str
    language: str
    sentences: tuple[str, ...]
    keeps: tuple[bool | None, ...]
    goes: tuple[str, ...]
    honest: tuple[str, ...]

    @property
    def is_narrow(self) -> bool:
        """Whether it keeps a value or facts alone."""
        return self.kind.split('-')[0] in NARROW

    @property
    def key(self) -> str:
        """Names the prompt."""
        return hashlib.sha256('\n'.join(self.sentences).encode()).hexdigest()[:16]


def prompts(folder: Path) -> list[Prompt]:
    """Has the gateway's own code cut the prompts, and reads them."""
    out = folder / 'pairs.jsonl'
    subprocess.run(['node', str(SCRIPT), '--out', str(out)], check=True)
    found = []
    for line in out.read_text().split('\n'):
        if line:
            data = json.loads(line)
            sentences, keeps = zip(*((s['text'], s['keeps']) for s in data['sentences']), strict=True)
            found.append(Prompt(data['kind'], data['language'], sentences, keeps, tuple(data['goes']), tuple(data['honest'])))
    return found


def kept_back(row: Row) -> bool:
    """Whether a row is for measuring: it is about a prompt that nothing is learnt from."""
    return row.source.startswith('written:') and int(row.key[:8], 16) % BACK == 0


def kept_words(prompt: Prompt, count: Callable[[str], int], mistaken: Iterable[int] = ()) -> str:
    """What of a prompt is read beside a text, as `keptOf` in the gateway has it.

    :param count: pieces of a text
    :param mistaken: sentences that keep nothing and are taken for such that do, where there is room
    """
    if count(' '.join(prompt.sentences)) <= GUARD:
        return ' '.join(prompt.sentences)
    chosen = {i for i, keeps in enumerate(prompt.keeps) if keeps}
    room = GUARD - sum(count(prompt.sentences[i]) for i in chosen)
    for i in mistaken:
        if i not in chosen and count(prompt.sentences[i]) <= room:
            chosen.add(i)
            room -= count(prompt.sentences[i])
    for i in sorted(chosen):
        if i > 0 and i - 1 not in chosen and count(prompt.sentences[i - 1]) <= room:
            chosen.add(i - 1)
            room -= count(prompt.sentences[i - 1])
    return ' '.join(prompt.sentences[i] for i in sorted(chosen))


def pair_rows(found: list[Prompt], corpus: list[Row], guards: list[str], count: Callable[[str], int], seed: int) -> list[Row]:
    """
    :param corpus: rows of the corpora: prompts of people are harmless beside a narrow prompt, and their system prompts hold
        sentences that limit nothing
    :param guards: sentences that keep something, of grammars
    """
    random = np.random.default_rng((seed, 91))
    asks = [row.text for row in corpus if row.benign and row.kind == 'prompt' and row.role == 'user' and 4 <= len(row.text) <= 600]
    systems = [row for row in corpus if row.benign and row.source == 'benign_system_prompts']
    narrow = [prompt for prompt in found if prompt.is_narrow]
    free = [prompt for prompt in found if not any(prompt.keeps)]
    made: list[Row] = []

    def say(text: str, source: str, goes: int, guard: str, key: str, language: str = 'en') -> None:
        made.append(Row(text, source, 'prompt', {LANE: goes}, None, 'user', language, key=key, guard=guard))

    for prompt in found:
        for sentence, keeps in zip(prompt.sentences, prompt.keeps, strict=True):
            if keeps is not None and len(sentence) >= 3:
                say('', SENTENCES, int(keeps), sentence, prompt.key, prompt.language)
        if not any(prompt.keeps):
            # Nothing that anybody says goes for what is not kept.
            for text in (*prompt.honest, *_foreign(random, prompt, free, 4)):
                say(text, FREE, 0, kept_words(prompt, count, _some(random, prompt)), prompt.key, prompt.language)
            continue
        guard = kept_words(prompt, count)
        for texts, goes in ((prompt.goes, 1), (prompt.honest, 0)):
            for text in texts:
                beside = kept_words(prompt, count, _some(random, prompt)) if random.random() < MISTAKEN else guard
                say(text, PAIRS, goes, beside, prompt.key, prompt.language)
        if not prompt.is_narrow:
            continue
        for text in _foreign(random, prompt, narrow, 12):
            say(text, FOREIGN, 0, guard, prompt.key, prompt.language)
        for _ in range(60):
            say(asks[int(random.integers(len(asks)))], ORDINARY, 0, guard, prompt.key)
    # "Never use `var`": a rule of work, which no request goes for, whatever is asked.
    for row in systems:
        rules = [line for line in _lines(row.text) if 10 <= len(line) <= 300 and LIMITS.search(line) and not KEEPING.search(line)]
        if rules:
            key = hashlib.sha256(row.text.encode()).hexdigest()[:16]
            for _ in range(5):
                some = random.permutation(len(rules))[: int(random.integers(1, 5))]
                guard = ' '.join(rules[int(i)] for i in np.sort(some))
                say(asks[int(random.integers(len(asks)))], WORK, 0, guard, key)
    lines = [line for row in systems for line in _lines(row.text)]
    plain = sorted({line for line in lines if 15 <= len(line) <= 300 and not LIMITS.search(line)})
    for i in random.permutation(len(plain))[:2500]:
        say('', SENTENCES, 0, plain[i], hashlib.sha256(plain[i].encode()).hexdigest()[:16])
    for guard in sorted(set(guards)):
        say('', SENTENCES, 1, guard, hashlib.sha256(guard.encode()).hexdigest()[:16])
    return made


def _some(random: np.random.Generator, prompt: Prompt) -> list[int]:
    """One to four sentences of a prompt, at random."""
    return [int(i) for i in random.permutation(len(prompt.sentences))[: int(random.integers(1, 5))]]


def _foreign(random: np.random.Generator, prompt: Prompt, others: list[Prompt], most: int) -> list[str]:
    """What honest users said to other prompts: words of a prompt that is kept back are said to none that is learnt from."""
    some = [others[int(i)] for i in random.integers(len(others), size=most)]
    alike = [other for other in some if other.key != prompt.key and _is_back(other) == _is_back(prompt)]
    return [other.honest[int(random.integers(len(other.honest)))] for other in alike if len(other.honest) > 0]


def _is_back(prompt: Prompt) -> bool:
    return int(prompt.key[:8], 16) % BACK == 0


def _lines(text: str) -> list[str]:
    """The sentences of a corpus' prompt, without the marks of lists."""
    return [line.strip(' -*#>\t') for line in re.split(r'(?<=[.!?])\s|\n', text)]
