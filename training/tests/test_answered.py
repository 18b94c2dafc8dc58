"""Rows of what models answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from encoder import lessons
from encoder.answered import AGREED, ANSWERS, SAID, answered_rows, turned, written_answers
from encoder.apart import is_aside
from encoder.asked import REQUESTS
from encoder.composed import folds_of
from encoder.lanes import LANE, targets
from encoder.pairs import kept_back
from encoder.relatives import made_here
from encoder.rows import Row

BOMBS = [Row(f'How do I build a bomb number {n}?', 'bombs', 'prompt', {'weapons': 1}, 1) for n in range(40)]
BREAD = [Row(f'How can I bake my bread number {n}?', 'bread', 'prompt', {}, 0) for n in range(90)]
ABUSE = [Row(f'you are vermin {n}', 'remarks', 'comment', {'hate': 1}, 1) for n in range(900)]
KIND = [Row(f'what a lovely day {n}', 'remarks', 'comment', {'hate': 0}, 0) for n in range(900)]
TALK = [Row(f'we talked about the weather {n}', 'talk', 'comment', {}, 0) for n in range(50)]
FOLDS = {'bombs': 2, 'bread': 1, 'remarks': 3, 'talk': 0}


def test_an_answer_harms_where_it_agrees_to_harm_and_not_where_it_declines() -> None:
    made = [row for row in answered_rows(BOMBS + BREAD, FOLDS, 1) if row.source.startswith(AGREED)]
    bombs = [row for row in made if 'bomb' in row.text]
    assert sum(row.unsafe == 1 for row in bombs) == sum(row.unsafe == 0 for row in bombs) == 40
    assert all(row.role == 'assistant' and row.source == f'{AGREED}2' for row in bombs)
    value, _ = targets(next(row for row in bombs if row.unsafe == 1))
    assert value[LANE['harmful_answer']] == 1 and value[LANE['weapons']] == 1 and value[LANE['harmful_request']] == -1
    value, _ = targets(next(row for row in bombs if row.unsafe == 0))
    assert value[LANE['harmful_answer']] == 0 and value[LANE['weapons']] == 0
    # The same frames stand around what harms nobody.
    bread = [row for row in made if 'bread' in row.text]
    assert len(bread) == 60 and all(row.unsafe == 0 for row in bread)
    assert folds_of(made) == {f'{AGREED}1': 1, f'{AGREED}2': 2}


def test_remarks_of_mixed_sources_are_told_as_answers() -> None:
    made = answered_rows(ABUSE + KIND + TALK, FOLDS, 1)
    assert {row.source for row in made} == {f'{SAID}remarks'} and {row.role for row in made} == {'assistant'}
    assert sum(bool(row.labels['hate']) for row in made) == sum(not row.labels['hate'] for row in made) == 700
    value, _ = targets(next(row for row in made if row.labels['hate']))
    assert value[LANE['harmful_answer']] == 1 and value[LANE['hate']] == 1
    # Their fold is that of the remarks.
    assert {FOLDS[row.origin] for row in made} == {3}


def test_what_measures_as_a_request_is_no_answer() -> None:
    rows = [Row(f'How to steal {n} bicycles', REQUESTS, 'prompt', {'illicit': 1}, 1, key=f'{n:08x}') for n in range(60)]
    made = answered_rows(rows, {}, 1)
    assert len(made) == 2 * sum(not kept_back(row) for row in rows)


def test_what_was_asked_for_is_said_to_who_asked() -> None:
    assert turned("hide my money from me when I'm away") == "hide your money from you when you're away"


def test_written_answers_say_what_they_are() -> None:
    rows = written_answers()
    assert {row.source for row in rows} == {ANSWERS} and {row.role for row in rows} == {'assistant'}
    harmful = [row for row in rows if row.harmful]
    assert 0.4 < len(harmful) / len(rows) < 0.6
    assert all(targets(row)[0][LANE['harmful_answer']] == 1 for row in harmful)
    assert all(targets(row)[0][LANE['harmful_answer']] == 0 for row in rows if not row.harmful)
    assert 0.1 < sum(kept_back(row) for row in rows) / len(rows) < 0.25


def test_what_measures_is_framed_nowhere_and_what_was_framed_stays_in_its_fold() -> None:
    made = [row for row in answered_rows(BOMBS + BREAD, FOLDS, 1) if 'bread' in row.text]
    kept = [row for row in BREAD if is_aside(row)]
    assert 0 < len(kept) < 30
    framed = {int(re.search(r'bread number (\d+)', row.text)[1]) for row in made}
    assert len(framed) > 40
    assert not framed & {int(re.search(r'(\d+)', row.text)[1]) for row in kept}
    assert made_here(f'{AGREED}1') and not made_here(f'{SAID}remarks')


def test_a_remark_told_as_an_answer_is_annotated_as_its_source_is() -> None:
    remark = Row('what the hell is this weather', f'{SAID}hatemoji', 'comment', {'hate': 0}, 0, 'assistant')
    assert remark.origin == 'hatemoji' and targets(remark)[0][LANE['profanity']] == -1


def test_a_work_folder_holds_one_lesson(tmp_path: Path) -> None:
    lessons._begin(tmp_path, 'asked')
    lessons._begin(tmp_path, 'asked')
    with pytest.raises(ValueError, match='work folder of its own'):
        lessons._begin(tmp_path, 'answered')
