"""Folds, windows, thresholds and 4-bit tables: what the figures of a training rest on."""

from __future__ import annotations

import numpy as np
import pytest

from encoder import calibration, second, export, metrics, relatives, roles, thresholds, windows
from encoder.composed import composed_rows
from encoder.lanes import LANE, LANES, targets
from encoder.rows import Row
from encoder.vocabulary import END, ROLE_ID, START


def row(source: str, unsafe: int | None = 0, kind: str = 'prompt', **labels: int) -> Row:
    return Row(text='x', source=source, kind=kind, labels=labels, unsafe=unsafe)


def test_relatives_share_a_fold_and_made_rows_have_none() -> None:
    names = [source for _, members in relatives.RELATIVES for source in members] + ['gsm8k', 'edos', 'jade', 'bipia']
    rows = [row(name) for name in names for _ in range(3)] + [row('grammar:hate', 1), row('installed:code')]
    dealt = relatives.deal(rows)
    assert set(dealt) == set(names)
    assert set(dealt.values()) == set(range(relatives.FOLDS))
    for _, members in relatives.RELATIVES:
        assert len({dealt[name] for name in members}) == 1


def test_no_source_is_listed_as_a_relative_twice() -> None:
    names = [source for _, members in relatives.RELATIVES for source in members]
    assert len(names) == len(set(names))


def test_windows_cover_a_text_and_stay_inside_it() -> None:
    for count in (1, 93, 94, 200, 5000):
        found = windows.starts(count, 93, 1000)
        read = {at for start in found for at in range(start, min(count, start + 93))}
        assert read == set(range(count))
    assert len(windows.starts(5000, 93, 6)) == 6
    assert windows.starts(5000, 93, 6)[-1] == 5000 - 93


def test_a_text_laid_into_another_stays_whole() -> None:
    random = np.random.default_rng(1)
    for _ in range(200):
        ids = np.arange(100, 100 + int(random.integers(1, 80)))
        made = windows.inside(ids, np.arange(1000, 1000 + int(random.integers(1, 300))), 93, random)
        assert len(made) <= 93
        at = int(np.flatnonzero(made == 100)[0])
        assert (made[at : at + len(ids)] == ids).all()


def test_the_encoder_is_told_who_speaks() -> None:
    assert windows.framed(np.array([50]), 'tool').tolist() == [START, ROLE_ID['tool'], 50, END]


def test_silent_sources_are_masked_and_harmless_ones_speak_for_every_lane() -> None:
    value, _ = targets(row('gsm8k'))
    assert value[LANE['hate']] == 0 and value[LANE['harmful_request']] == 0
    value, _ = targets(row('korean_curse', None, 'comment', profanity=1))
    assert value[LANE['profanity']] == 1 and value[LANE['hate']] == -1 and value[LANE['unsafe']] == -1


def test_thresholds_hold_the_bound_with_every_source_counting_alike() -> None:
    random = np.random.default_rng(2)
    rows = [row('large') for _ in range(9000)] + [row('small') for _ in range(100)]
    logits = np.zeros((len(rows), len(LANES)), np.float32)
    logits[:, LANE['unsafe']] = np.concatenate([random.normal(0, 1, 9000), random.normal(2, 1, 100)])
    found = thresholds.choose(rows, np.full(len(rows), 40), logits, ('unsafe',))
    for t in found:
        assert t.mean <= t.bound
    at = next(t for t in found if t.bound == 0.02)
    assert at.worst == 'small' and at.score > 3


def test_auroc_counts_ties_half() -> None:
    assert metrics.auroc(np.array([1.0, 2.0]), np.array([1.0, 0.0])) == 0.875
    assert metrics.auroc(np.array([1.0, 3.0]), np.array([0.0, 2.0])) == 0.75
    assert metrics.auroc(np.array([1.0]), np.array([1.0, 1.0])) == 0.5
    low, high = metrics.wilson(0, 100)
    assert low == 0 and 0.03 < high < 0.04


def test_tables_that_came_in_4_bits_leave_in_the_same_4_bits() -> None:
    random = np.random.default_rng(3)
    whole = random.integers(-8, 8, (40, 2, 32)).astype(np.float32)
    whole[:, :, 0] = -8
    scale = random.normal(0, 1, (40, 2, 1)).astype(np.float16).astype(np.float32)
    table = (whole * scale).reshape(40, 64)
    packed, scales = export.quantise_table(table)
    low, high = (packed & 15).astype(np.int8), (packed >> 4).astype(np.int8)
    numbers = np.stack([low, high], axis=2).reshape(40, 64)
    numbers = np.where(numbers > 7, numbers - 16, numbers)
    back = (numbers.reshape(40, 2, 32) * scales.astype(np.float32)[:, :, None]).reshape(40, 64)
    assert (back == table).all()


def test_harmless_documents_are_told_as_by_everyone_and_harmful_rows_as_they_are() -> None:
    random = np.random.default_rng(4)
    said = {roles.told(row('benign_tldr', 0, 'document'), random) for _ in range(500)}
    assert said == {'user', 'assistant', 'tool', 'system'}
    assert {roles.told(row('advbench_etc', 1), random) for _ in range(100)} == {'user'}


def test_windows_go_where_a_corpus_says_that_the_label_was_earned() -> None:
    random = np.random.default_rng(5)
    assert windows.random_start(1000, 93, random, 'start') == 0
    assert windows.random_start(1000, 93, random, 'end') == 907
    for _ in range(50):
        at = windows.random_start(1000, 93, random, 'middle')
        assert at <= 500 <= at + 93


def test_lanes_that_decide_together_hold_the_bound_together() -> None:
    random = np.random.default_rng(6)
    rows = [row(f'source{i % 5}') for i in range(10_000)]
    logits = random.normal(0, 1, (len(rows), len(LANES))).astype(np.float32)
    lanes = ('unsafe', 'hate', 'jailbreak')
    pieces = np.full(len(rows), 40)
    found = thresholds.choose(rows, pieces, logits, lanes, together=True)
    for bound in thresholds.BOUNDS:
        share = thresholds.stopped(rows, pieces, logits, found, bound).mean()
        assert bound * 0.8 < share <= bound


def test_a_confidence_is_a_share_of_false_alarms() -> None:
    random = np.random.default_rng(5)
    rows = [Row(str(i), f'benign_{i % 20}', 'prompt', unsafe=0) for i in range(40_000)]
    pieces = np.full(len(rows), 20)
    # Above the floors, which bind where hardly anything harmless scores.
    logits = random.normal(4, 1.5, (len(rows), len(LANES))).astype(np.float32)
    knots = {'user': calibration.calibrate('user', rows, pieces, logits, unseen=1)}
    told = calibration.confidences(knots, rows, pieces, logits)
    for share, confidence in calibration.SCALE:
        if share >= 0.001:
            assert abs(np.log((told >= confidence).mean() / share)) < np.log(1.25), (share, confidence)
    for line in knots['user']['one window'].values():
        assert all(b[0] > a[0] and b[1] > a[1] for a, b in zip(line, line[1:], strict=False))
    # Of sources that are known a third as many may reach it, so that of others as many do as it says.
    stricter = {'user': calibration.calibrate('user', rows, pieces, logits, unseen=3)}
    share = (calibration.confidences(stricter, rows, pieces, logits) >= 0.40).mean()
    assert share == pytest.approx(0.005 / 3, rel=0.3)


def test_a_few_texts_that_stand_out_are_below_what_nothing_harmless_reaches() -> None:
    random = np.random.default_rng(5)
    rows = [Row(str(i), f'benign_{i % 20}', 'prompt', unsafe=0) for i in range(4_000)]
    logits = random.normal(-4, 0.2, (len(rows), len(LANES)))
    logits[:2] = 30
    knots = calibration.calibrate('user', rows, np.full(len(rows), 20), logits)
    assert np.isfinite([at for line in knots['one window'].values() for at, _ in line]).all()


def test_rare_is_not_yet_harmful_and_a_longer_text_needs_no_less() -> None:
    line = [[-9.0, 0.05], [-5.0, 0.40], [-4.0, 0.75]]
    longer = [[-9.5, 0.05], [4.0, 0.40], [2.0, 0.75]]
    told = calibration.sound({'one window': {'request': line}, 'up to three': {'request': longer}})
    floor = calibration.FLOOR
    assert told['one window']['request'] == [[floor[at], at] for at in (0.05, 0.40, 0.75)]
    assert told['up to three']['request'] == [[floor[0.05], 0.05], [4.0, 0.40], [floor[0.75], 0.75]]


def test_no_lane_is_put_above_its_own_texts_for_the_sake_of_another() -> None:
    random = np.random.default_rng(1)
    scores = random.normal(-6, 1, (300, 2))
    # One text stands out in the second lane: it alone is a greater share than may be stopped.
    scores[0, 1] = 9.0
    level = calibration._levels(scores, np.ones(300), np.ones(2), 0.001)
    assert level[1] == 9.0
    assert level[0] < scores[:, 0].max() + 3
    assert not (scores > level).any()


def test_a_tail_is_drawn_out_no_steeper_than_many_texts_say() -> None:
    # Eight texts far above all others: the slope that they tell is of nothing.
    scores = np.concatenate([np.full(8, -1.0), np.full(492, -20.0)])
    drawn = calibration.quantile(scores, np.ones(500), 0.0005)
    assert drawn == pytest.approx(-1.0 + calibration.STEEPEST * np.log(0.016 / 0.0005), abs=0.3)


def test_honest_twins_raise_a_knot_and_never_lower_it() -> None:
    random = np.random.default_rng(5)
    knots = {'one window': {'hate': [[1.0, 0.31], [2.0, 0.40], [9.0, 0.75]]}}
    twins = random.normal(3, 1, 4_000)
    told = dict((told, at) for at, told in calibration.beside_twins(knots, {'hate': twins}, np.ones(4_000), {'hate': 2})['one window']['hate'])
    assert (twins > told[0.40]).mean() == pytest.approx(0.01, abs=0.002)
    assert told[0.75] == 9.0


def test_the_classifier_seconds_what_a_role_may_be_stopped_for_and_no_other() -> None:
    lanes = ['harmful_request', 'hate', 'prompt_injection']
    seconds = second.Seconds(lanes, {'asks': np.array([4.0, -9.0, -100.0])})
    rows = [Row('asks', 's', 'prompt', {}, 0, 'user')]
    only = {'user': {'harmful_request': 0.75, 'hate': 0.25}, 'tool': {'prompt_injection': 0.25}}
    told = pytest.MonkeyPatch()
    told.setattr(second, 'SECONDED', only)
    try:
        logits = np.zeros((1, len(LANES)))
        added = seconds.added(rows, logits)[0]
        assert added[LANE['harmful_request']] == 3.0
        # Below `LEAST` it counts as that, and where it knows no word as `UNKNOWN`.
        assert added[LANE['hate']] == 0.25 * second.LEAST
        assert added[LANE['prompt_injection']] == 0
        assert seconds.added(rows, logits, 'tool')[0, LANE['prompt_injection']] == 0.25 * second.UNKNOWN
        assert not logits.any()
    finally:
        told.undo()


def test_a_composed_row_holds_both_halves_and_stays_in_their_fold() -> None:
    document = 'The museum opens at nine. Children pay half. The café is closed on Mondays.\n' * 4
    rows = [Row(document, 'papers', 'document', unsafe=0)] + [
        Row(f'Write a poem about river number {i}', 'asks', 'prompt', unsafe=0) for i in range(30)
    ]
    made = composed_rows(rows, [], {'papers': 3, 'asks': 3}, 1, most=60)
    assert {row.source.rsplit(':', 1)[1] for row in made} == {'3'}
    attacks = [row for row in made if row.labels.get('prompt_injection') == 1]
    overrides = [row for row in attacks if 'override' in row.source]
    assert overrides and all(row.role == 'user' and 'write a poem' in row.text.lower() for row in overrides)
    injected = [row for row in attacks if row not in overrides]
    assert injected and all(row.role == 'tool' and 'Write a poem' in row.text for row in injected)
    assert all('Write a poem' not in row.text for row in made if 'clean' in row.source)
    assert composed_rows(rows, [], {'papers': 3, 'asks': 2}, 1, most=60) == []


def test_a_share_of_one_text_and_more_is_never_beyond_the_highest() -> None:
    # Logits that saturate at 6: drawn out along their tail, one in 100 would be beyond every text.
    scores = np.concatenate([np.full(6, 6.0), np.linspace(5, -8, 94)])
    assert calibration.quantile(scores, np.ones(100), 0.01) <= 6.0
    assert calibration.quantile(scores, np.ones(100), 0.001) > 6.0
