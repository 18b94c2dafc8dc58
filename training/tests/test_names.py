"""Sentences with names in known places, and what is held back of them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('faker')

from encoder import name_rows as made
from encoder.name_lists import read_names


def test_labels_stand_where_the_names_do() -> None:
    random = np.random.default_rng(1)
    for code in ('en', 'ja'):
        writer = made.Writer(code, False, [], random)
        for _ in range(200):
            row = writer.row()
            ends = [(label.start, label.end) for label in row.labels]
            assert ends == sorted(ends)
            assert all(0 <= start < end <= len(row.text) for start, end in ends)
            assert all(row.text[start:end].strip() == row.text[start:end] for start, end in ends)
            assert all(label.kind in made.KINDS for label in row.labels)
            assert '{' not in ''.join(row.text[start:end] for start, end in ends)


def test_what_is_held_back_is_not_learnt_from() -> None:
    for code in ('en', 'de', 'zh'):
        learnt, held = made.read_templates(code, False), made.read_templates(code, True)
        assert held.sentences
        assert not set(learnt.sentences) & set(held.sentences)
        assert not set(learnt.organisations) & set(held.organisations)
    names, others = read_names('en', False), read_names('en', True)
    assert not set(names.places) & set(others.places)
    assert len(others.first) > len(names.first)
