"""The head of need: what it learns, where it stands in the file that ships, and what its confidences bear."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper
from test_tools import HIDDEN, INNER, POSITIONS, encoder, pack

from encoder import calibration, export, need
from encoder.e5pack import Pack
from encoder.lanes import LANES
from encoder.rows import Row
from encoder.ship import NEED, add_need, confide

__all__ = ['pack']


def made(count: int, seed: int) -> tuple[need.States, np.ndarray]:
    """Windows of numbers at random; in every other one a single piece says something."""
    random = np.random.default_rng(seed)
    sizes = random.integers(4, 20, count)
    start = np.concatenate([[0], np.cumsum(sizes)])
    x = random.normal(3, 2, (start[-1], 16))
    value = np.arange(count) % 2 == 0
    for i in np.flatnonzero(value):
        x[random.integers(start[i] + 1, start[i + 1]), 5] += 9
    return need.States(x.astype(np.float16), start, np.arange(count)), value


def test_the_head_finds_one_piece_among_many_and_reads_states_as_they_are() -> None:
    told, value = made(6000, 1)
    head = need.learn(told, value, np.zeros(6000, bool), 1)
    other, expected = made(200, 2)
    scores = need.score(head, other, 200)
    assert scores[expected].mean() > scores[~expected].mean() + 2
    # A text of two windows scores what the higher one does.
    pairs = need.States(other.x, other.start, np.arange(200) // 2)
    assert np.allclose(need.score(head, pairs, 100), scores.reshape(100, 2).max(1), atol=1e-4)


@pytest.mark.parametrize('branches', [(), ('guards', 'tools')])
def test_the_file_scores_need_for_everybody_and_nothing_where_nobody_is_read(pack: Pack, branches: tuple[str, ...]) -> None:
    model = encoder(pack, *branches)
    shape = export.Shape(HIDDEN, 2, 2, INNER, POSITIONS, 1e-5, 1 if branches else 0, branches)
    built = export.build(model.named_arrays(), shape, len(LANES), 'dynamic')
    before = {constant.name: constant for each in export._graphs(built.graph) for constant in each.initializer}
    head = need.Head(HIDDEN)
    export.with_need(built, head.arrays(), 2)
    onnx.checker.check_model(built)
    assert built.graph.output[0].type.tensor_type.shape.dim[1].dim_value == len(LANES) + 1
    # The runtime takes no two nodes of one name.
    for each in export._graphs(built.graph):
        assert len({node.name for node in each.node}) == len(each.node)
    after = {constant.name: constant for each in export._graphs(built.graph) for constant in each.initializer}
    assert all(after[name] == constant for name, constant in before.items())
    silent = [name for name in after if name.endswith('.no_need')]
    assert set(silent) == {f'{branch}.scores.no_need' for branch in branches}
    # A head that is there is replaced.
    with torch.no_grad():
        head.out.bias += 1
    nodes = len(built.graph.node)
    export.with_need(built, head.arrays(), 2)
    found = {constant.name: constant for each in export._graphs(built.graph) for constant in each.initializer}
    assert np.allclose(numpy_helper.to_array(found['need.out.b']), head.out.bias.detach().numpy())
    assert len(built.graph.node) == nodes


def test_the_manifest_names_the_lane_and_its_confidences_whatever_was_calibrated(pack: Pack, tmp_path: Path) -> None:
    model = encoder(pack)
    built = export.build(model.named_arrays(), export.Shape(HIDDEN, 2, 2, INNER, POSITIONS, 1e-5), len(LANES), 'dynamic')
    (tmp_path / 'encoder.onnx').write_bytes(built.SerializeToString())
    knots = {'user': {'one window': {'request': [[1.0, 0.4]]}}}
    told = {'lanes': list(LANES), 'calibration': knots, 'calibrated': {'groups': {'user': {'request': 'harmful_request'}}}}
    (tmp_path / 'encoder.json').write_text(json.dumps(told))
    fitted = {'knots': {'one window': [[2.0, 0.4]]}, 'fitted': {}}
    (tmp_path / 'need.json').write_text(json.dumps(fitted))
    head = need.Head(HIDDEN).arrays()
    torch.save(head, tmp_path / 'need.pt')
    # Two layers are all that this model has.
    export.with_need(built, head, 2)
    (tmp_path / 'encoder.onnx').write_bytes(built.SerializeToString())
    add_need(tmp_path, tmp_path)
    found = json.loads((tmp_path / 'encoder.json').read_text())
    assert found['lanes'] == [*LANES, NEED]
    assert found['calibrated']['groups']['user'] == {'request': 'harmful_request', NEED: NEED}
    assert found['calibration']['user']['one window'] == {'request': [[1.0, 0.4]], NEED: [[2.0, 0.4]]}
    # What is calibrated anew leaves its confidences as they are.
    (tmp_path / 'calibration.json').write_text(
        json.dumps({'knots': {'user': {'one window': {'request': [[1.5, 0.4]]}}}, 'groups': {'user': {'request': 'harmful_request'}}})
    )
    confide(tmp_path, tmp_path)
    found = json.loads((tmp_path / 'encoder.json').read_text())
    assert found['calibration']['user']['one window'] == {'request': [[1.5, 0.4]], NEED: [[2.0, 0.4]]}
    assert (found['lanes'], found['need']) == ([*LANES, NEED], fitted['fitted'])


def test_confidences_end_where_nobody_is_refused_and_longer_texts_need_no_less() -> None:
    random = np.random.default_rng(4)
    rows = [Row('x', source, 'prompt', {}, 0) for source in ('a', 'b') for _ in range(400)]
    pieces = np.array([20, 200, 900, 40] * 200)
    found = need.confidences(rows, pieces, random.normal(-4, 1, 800), random.normal(-1, 1, 300), random.normal(-4, 1, 500))
    for line in found.values():
        at, told = np.array(line).T
        assert (np.diff(at) > 0).all() and (np.diff(told) > 0).all()
        assert told[-1] == need.MOST < 0.75
    for shorter, longer in zip(list(found.values()), list(found.values())[1:], strict=False):
        assert all(b[0] >= a[0] for a, b in zip(shorter, longer, strict=True))
    # One text in 200 is an ordinary one; of twins so many times as many may be stopped.
    twins = random.normal(-1, 1, 4000)
    line = need.confidences(rows, pieces, np.full(800, -9.0), twins, np.full(500, -9.0))[calibration.CLASSES[0][0]]
    stop = next(at for at, told in line if told == 0.40)
    assert (twins >= stop).mean() == pytest.approx(0.005 * need.TWINS, abs=0.01)


def test_written_rows_say_who_is_in_need() -> None:
    rows = need.need_rows()
    assert {row.source for row in rows} == {need.SOURCE}
    assert {tuple(row.labels) for row in rows} == {(NEED,), ()}
    assert all(row.benign == (not row.labels) for row in rows)
