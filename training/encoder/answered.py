"""What models answer: rows that are harmful and honest in the same words, so that who speaks does not give the label away.

Few corpora hold harmful answers, and whatever else assistants say in them is harmless: weights that learnt from these alone took the
assistant's mark for a sign of harmlessness. Three kinds of rows say otherwise: answers that were written one at a time
(`training/written/answers`); remarks of the corpora, hateful and harmless, told as an assistant's; and requests of the corpora, harmful and
harmless, that an answer agrees to or declines. What was made of a source belongs to its fold.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from .apart import is_aside
from .asked import REMARKS, REQUESTS, lines
from .asked import row as written_row
from .lanes import ATTACKS_ON_MODELS, LABELS
from .rows import SAID, Row

ANSWERS, AGREED = 'written:answers', 'answered:'
# The beginnings of the names of all sources of answers.
ANSWERED = (ANSWERS, SAID, AGREED, 'gptfuzz_responses')
WRITTEN = Path(__file__).parent.parent / 'written' / 'answers'
# So many remarks of a source, and as many harmless ones; answers made of requests that harm, and as many times more of others.
REMARKS_OF_A_SOURCE, AGREED_TO, MORE_HARMLESS = 700, 5000, 1.5

WAYS = re.compile(
    r'^(?:please,? )?(?:(?:can|could|would) you )?(?:.{0,32}? )?how (?:do i|can i|could i|would i|should i|do you|can you|can one|does one|would one|'
    r'would someone|can someone|might someone|do people|to) (?P<way>\w[^.?!]{8,140})[?.!]*$',
    re.I,
)
THINGS = re.compile(
    r'^(?:please,? )?(?:(?:can|could|would) you )?(?:write|create|develop|draft|generate|make|design|compose|give|provide|produce|prepare)'
    r'(?: me)? (?P<thing>(?:a|an|the|some) [^.?!]{8,140})[?.!]*$',
    re.I,
)
# Who asked is told: "my" becomes "your".
TURNED = {'i': 'you', "i'm": "you're", 'me': 'you', 'my': 'your', 'mine': 'yours', 'myself': 'yourself', 'am': 'are'}
# An answer that does what it was asked for. `{}`: the words of the request.
DOING = (
    "Sure, here's how to {}. {}",
    'To {}, start like this. {}',
    '# How to {}\n\n{}',
    'Yes, you can {}, and it takes less than you think. {}',
    '{1} And that is how to {0}.',
    'Here is a step-by-step plan to {}:\n\n1. {}',
    "Okay, let's {} together. {}",
    'If you want to {}, this is what works. {}',
    '**Goal:** {}\n\n**Steps:** {}',
    'Of course! People {} in several ways. {}',
    '{1}\n\nWith that done you are ready to {0}.',
    'I looked into it. The best way to {} is simple: {}',
)
GIVING = (
    'Sure! Here is {}:\n\n{}',
    'Here you go, {} as you asked. {}',
    "I've written {}. {}",
    'Below is {}.\n\n---\n\n{}',
    '{1}\n\nThat is {0}. Tell me what to change.',
    "Certainly. I'd be happy to give you {}. {}",
    'This is {}, ready to use: {}',
)
# What an answer goes on with, whatever it is about.
GOING_ON = (
    'First, get everything you need ready. Then take it one step after the other.',
    'Pick the right moment, keep it short and check the result.',
    'You will need time, a quiet place and a little practice.',
    'Begin with the easy part; the rest follows from it.',
    'Most people fail because they skip the preparation. Do not.',
    'Write down what you want to achieve, then work through the list below.',
    'Here are the materials, the method and what to watch out for.',
    'Read all of it before you start. Ask me if a step is unclear.',
    '',
)
DECLINING = (
    "I'm sorry, but I can't help you {}.",
    'I will not explain how to {}. If something else is behind this, tell me and I will help with that.',
    'To {} is against the law in most places, and people get hurt. I am not going to help with it.',
    "I understand that you want to {}, but that is something I can't assist with.",
    'No. Whoever tries to {} does lasting damage. Here is what you could do instead.',
    'As an AI, I have to say no when I am asked how to {}. Please talk to someone you trust.',
)
KEEPING = (
    "I'm sorry, but I can't write {}.",
    'I will not give you {}. I can help with something that harms nobody.',
    "You asked for {}, and that I won't produce: it could hurt people.",
    'I cannot provide {}. Is there anything else you would like to talk about?',
)


def written_answers() -> list[Row]:
    """The rows of `training/written/answers`.

    :raises ValueError: a line is no such row, with its place
    """
    return [replace(written_row(data, place, ANSWERS, 'document'), role='assistant') for _, place, data in lines(WRITTEN)]


def answered_rows(rows: list[Row], folds: dict[str, int], seed: int) -> list[Row]:
    """Remarks told as answers, and requests that were answered.

    :param rows: of the corpora, and requests and remarks that were written one at a time
    """
    random = np.random.default_rng((seed, 83))
    # What measures as a user's words teaches nothing as an answer either.
    rows = [row for row in rows if not is_aside(row)]
    return _said(rows, random) + _agreed(rows, folds, random)


def _said(rows: list[Row], random: np.random.Generator) -> list[Row]:
    """Remarks of sources that hold hateful or abusive ones: these, and the harmless ones beside them."""
    found: dict[tuple[str, bool], list[Row]] = defaultdict(list)
    for row in rows:
        abuses = any(row.labels.get(label) == 1 for label in ('hate', 'harassment'))
        if row.kind == 'comment' and row.role == 'user' and (abuses or row.benign):
            found[row.source, abuses].append(row)
    mixed = {source for source, abuses in found if abuses}
    made: list[Row] = []
    for (source, _), members in sorted(found.items()):
        if source in mixed:
            taken = random.permutation(len(members))[:REMARKS_OF_A_SOURCE]
            made += [replace(members[int(i)], role='assistant', source=f'{SAID}{source}') for i in taken]
    return made


def _agreed(rows: list[Row], folds: dict[str, int], random: np.random.Generator) -> list[Row]:
    """Requests that an answer agrees to or declines: harmful where it agrees to a harmful one."""
    harmful: list[tuple[Row, bool, str]] = []
    harmless: list[tuple[Row, bool, str]] = []
    for row in rows:
        asks = row.kind == 'prompt' and row.role == 'user' and row.language == 'en' and row.source not in ATTACKS_ON_MODELS
        if not asks or any(row.labels.get(label) == 1 for label in ('jailbreak', 'prompt_injection')):
            continue
        found = WAYS.match(row.text) or THINGS.match(row.text)
        if found is None or not (row.benign or row.unsafe == 1) or row.source == REMARKS:
            continue
        way = 'way' in found.groupdict()
        words = turned(found.group(1))
        (harmless if row.benign else harmful).append((row, way, words))
    made: list[Row] = []
    for i in random.permutation(len(harmful))[:AGREED_TO]:
        row, way, words = harmful[int(i)]
        made.append(_answer(row, words, DOING if way else GIVING, row.labels, 1, folds, random))
        made.append(_answer(row, words, DECLINING if way else KEEPING, {}, 0, folds, random))
    # Honest requests in the words of harmful ones come first: they are few.
    near = [each for each in harmless if each[0].source == REQUESTS]
    far = [each for each in harmless if each[0].source != REQUESTS]
    most = int(MORE_HARMLESS * min(len(harmful), AGREED_TO))
    taken = (near + [far[int(i)] for i in random.permutation(len(far))])[:most]
    for row, way, words in taken:
        agrees = random.random() < 0.8
        frames = (DOING if way else GIVING) if agrees else (DECLINING if way else KEEPING)
        made.append(_answer(row, words, frames, {}, 0, folds, random))
    return made


def _answer(
    row: Row, words: str, frames: tuple[str, ...], labels: dict[str, int], unsafe: int, folds: dict[str, int], random: np.random.Generator
) -> Row:
    frame = frames[int(random.integers(len(frames)))]
    text = frame.format(words, GOING_ON[int(random.integers(len(GOING_ON)))]).strip()
    labels = {name: value for name, value in labels.items() if name in LABELS}
    # Of what was written one at a time every model learns.
    return replace(
        row, text=text, source=f'{AGREED}{folds.get(row.source, -1)}', kind='document', labels=labels, unsafe=unsafe, role='assistant'
    )


def turned(words: str) -> str:
    """What somebody asked for, said to them: "hide my money" becomes "hide your money"."""
    return re.sub(r"[\w']+", lambda word: TURNED.get(word[0].lower(), word[0]), words)
