"""Written pairs and requests: what of a prompt is read, what is learnt, and what is kept back to measure."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from encoder import guard_told
from encoder.asked import ASKED, CHATS, JAILBREAKS, REMARKS, REQUESTS, chat_rows, written_rows
from encoder.lanes import LANE, targets
from encoder.paged import PAGE, paged
from encoder.pairs import FOREIGN, FREE, ORDINARY, PAIRS, SENTENCES, WORK, Prompt, kept_back, kept_words, pair_rows
from encoder.rows import Row
from encoder.windows import GUARD


def count(text: str) -> int:
    return len(text.split())


def prompt(kind: str, number: int, keeps: bool | None = True) -> Prompt:
    sentences = (f'You are {kind} {number}.', f'The code is {number}.', 'That stays here.')
    return Prompt(kind, 'en', sentences, (False, None, keeps), (f'{kind} code {number}?',), (f'hello {kind} {number}', f'thanks {kind} {number}'))


CORPUS = [
    *[Row(f'what do people ask {n}', 'a', 'prompt', {}, 0) for n in range(50)],
    Row('You write poems. Never rhyme. Use short lines please.', 'benign_system_prompts', 'prompt', {}, 0),
]


def test_a_short_prompt_is_read_whole_and_of_a_long_one_what_keeps_with_what_it_points_to() -> None:
    assert kept_words(prompt('people', 1), count) == 'You are people 1. The code is 1. That stays here.'
    filler = tuple(f'fact {n} is this.' for n in range(30))
    long = Prompt('people', 'en', ('The code is 7.', 'That stays here.', *filler, 'No jokes.'), (None, True, *[False] * 30, True), (), ())
    assert count(' '.join(long.sentences)) > GUARD
    assert kept_words(long, count) == 'The code is 7. That stays here. fact 29 is this. No jokes.'
    assert kept_words(long, count, [20]) == 'The code is 7. That stays here. fact 17 is this. fact 18 is this. fact 29 is this. No jokes.'
    assert count(kept_words(long, count, range(2, 30))) <= GUARD, 'what is taken by mistake takes no room from what keeps'


def test_nothing_goes_for_what_a_prompt_does_not_keep() -> None:
    free = [Prompt('products', 'en', ('You sell tea.', f'Answer in {n} words.'), (False, False), (), (f'tea {n}?', f'shorter {n}')) for n in range(60)]
    rows = [row for row in pair_rows([*free, prompt('people', 1)], CORPUS, [], count, 1) if row.source == FREE]
    assert {row.text for row in rows} == {text for each in free for text in each.honest}
    assert {row.labels['guarded'] for row in rows} == {0} and all('sell tea' in row.guard for row in rows)
    sides = {text: kept_back(row) for row in rows for text in [row.text]}
    assert all(sides[row.text] == kept_back(row) for row in rows), 'words that measure are learnt nowhere'


def test_sentences_and_pairs_say_something_of_one_lane_and_a_prompt_goes_to_one_side_whole() -> None:
    found = [prompt(kind, n) for n in range(60) for kind in ('secrets', 'scope')] + [Prompt('long', 'en', ('You sell tea.',), (False,), (), ('green tea?',))]
    rows = pair_rows(found, CORPUS, ['Tell nobody.'], count, 1)
    assert {row.source for row in rows} == {PAIRS, FREE, FOREIGN, ORDINARY, WORK, SENTENCES}
    assert {(row.guard, row.labels['guarded']) for row in rows if row.source == WORK} == {('Never rhyme.', 0)}
    for row in rows:
        value, _ = targets(row)
        assert [lane for lane, number in LANE.items() if value[number] >= 0] == ['guarded']
    assert all(row.text == '' for row in rows if row.source == SENTENCES)
    sentences = {row.guard: row.labels['guarded'] for row in rows if row.source == SENTENCES}
    assert [sentences[each] for each in ('That stays here.', 'Tell nobody.', 'You are scope 3.', 'You sell tea.')] == [1, 1, 0, 0]
    assert 'The code is 3.' not in sentences, 'what is kept is no order to keep it'
    assert 'Use short lines please.' in sentences and 'Never rhyme.' not in sentences
    # What other people ask is harmless beside what keeps a value, and may be off limits beside what keeps to a subject.
    guards = {row.guard for row in rows if row.source == ORDINARY}
    assert all(guard.startswith('You are secrets') for guard in guards) and len(guards) == 60
    assert {row.guard for row in rows if row.source == FOREIGN} <= guards
    sides: dict[str, set[bool]] = defaultdict(set)
    for row in rows:
        sides[row.key].add(kept_back(row))
    assert all(len(side) == 1 for side in sides.values())
    assert {side for each in sides.values() for side in each} == {True, False}
    back = {row.text for row in rows if row.source == PAIRS and kept_back(row)}
    learnt = {row.text for row in rows if row.source == FOREIGN and not kept_back(row)}
    assert not back & learnt, 'words that measure are learnt nowhere'


def test_what_honest_users_say_is_harmless_without_its_prompt_but_for_what_only_the_prompt_settles() -> None:
    rows = chat_rows([prompt('products', 1), prompt('products', 2)])
    assert [row.text for row in rows] == ['hello products 1', 'thanks products 1', 'hello products 2', 'thanks products 2']
    assert {row.source for row in rows} == {CHATS} and all(row.benign and row.guard == '' for row in rows)
    value, _ = targets(rows[0])
    assert value[LANE['harmful_request']] == value[LANE['violence']] == value[LANE['unsafe']] == 0
    assert value[LANE['jailbreak']] == value[LANE['prompt_injection']] == value[LANE['guarded']] == -1
    assert kept_back(rows[0]) == (int(rows[0].key[:8], 16) % 6 == 0), 'it goes to the side of its prompt'


def test_a_sentence_keeps_something_from_where_nearly_every_prompt_has_one_that_is_found() -> None:
    keys = [f'k{n}' for n in range(100) for _ in range(2)] + ['free'] * 2
    keeps = np.array([True, False] * 100 + [False, False])
    scores = np.array([value for n in range(100) for value in (n / 10, -5.0)] + [-5.0, 0.1])
    at, told = guard_told._keeping(keys, keeps, scores, np.ones(202, bool))
    assert 0.1 < at < 0.4
    assert told['keeping_found'] >= 0.97 and told['free_prompts_found'] == 0.0


def test_pages_hold_whole_sentences_and_nothing_is_lost() -> None:
    text = 'Watu wote wanakaribishwa. ' * 30 + '\n\n' + '规则如下。请勿喧哗！' * 60
    cut = paged(text)
    assert len(cut) > 2 and all(len(page) <= PAGE for page in cut)
    assert all(page.endswith(('.', '。', '！')) for page in cut)
    assert ''.join(''.join(cut).split()) == ''.join(text.split())
    assert paged('One. Two.') == ['One. Two.']


def test_what_a_file_of_values_keeps_is_narrow() -> None:
    kinds = {kind: Prompt(kind, 'en', ('It is secret.',), (True,), ('a',), ('b',)).is_narrow for kind in ('values', 'values-2', 'subjects-abroad')}
    assert kinds == {'values': True, 'values-2': True, 'subjects-abroad': False}


def test_written_requests_say_what_they_are() -> None:
    rows = written_rows()
    assert {row.source for row in rows} == set(ASKED)
    by = {source: [row for row in rows if row.source == source] for source in ASKED}
    # What is after a model's instructions need be after nothing else.
    harmful = next(row for row in by[REQUESTS] if row.harmful and not {'prompt_injection', 'jailbreak'} & row.labels.keys())
    value, _ = targets(harmful)
    assert value[LANE['harmful_request']] == 1 and value[LANE['unsafe']] == 1
    jailbreak = next(row for row in by[JAILBREAKS] if row.labels.get('jailbreak'))
    value, _ = targets(jailbreak)
    assert value[LANE['jailbreak']] == 1 and value[LANE['harmful_request']] == -1
    remark = next(row for row in by[REMARKS] if row.labels.get('hate'))
    value, _ = targets(remark)
    assert value[LANE['hate']] == 1 and value[LANE['harmful_request']] == 0
    # Swearing at things is honest.
    assert all(targets(row)[0][LANE['profanity']] == -1 for row in by[REMARKS] if row.benign)
    assert all(targets(row)[0][LANE['harmful_request']] == 0 for row in rows if row.benign)
    assert 0.1 < sum(kept_back(row) for row in rows) / len(rows) < 0.25
