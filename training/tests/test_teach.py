"""Tests of what the first reader is taught: `encoder/teach.py`."""

from __future__ import annotations

import numpy as np

from encoder.paged import PAGE
from encoder.teach import PAGES, pages


def test_a_short_text_is_one_page() -> None:
    text = 'Please translate this. ' * 20
    assert pages(text, np.random.default_rng(1)) == [text]


def test_pages_are_pieces_of_a_long_text_end_with_a_sentence_and_are_no_longer_than_is_read_at_once() -> None:
    text = ' '.join(f'Sentence number {i} tells something about the harvest.' for i in range(400))
    found = pages(text, np.random.default_rng(1))
    assert len(found) == PAGES
    for page in found:
        assert page in text
        assert len(page) <= PAGE
        assert page.endswith('.')


def test_a_text_without_a_place_to_end_is_cut_where_the_page_is_full() -> None:
    found = pages('x' * 5000, np.random.default_rng(1))
    assert [len(page) for page in found] == [PAGE] * PAGES
