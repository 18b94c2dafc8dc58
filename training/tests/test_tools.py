"""Layers of their own for some windows: whose scores they move, and whether they come back from the file that ships."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from encoder import export, shipped
from encoder.lessons import HOLD, holding
from encoder.batches import Batch
from encoder.e5pack import Pack, Pieces
from encoder.lanes import LANES
from encoder.model import Encoder, Settings
from encoder.rows import Row
from encoder.settle import by_source
from encoder.vocabulary import END, ROLE_ID, START

HIDDEN, INNER, POSITIONS, SPECIALS, WORDS = 64, 96, 40, 12, 52


@pytest.fixture
def pack() -> Pack:
    """A base of two layers with weights at random."""
    random = np.random.default_rng(3)

    def some(*shape: int) -> np.ndarray:
        return random.normal(0, 0.2, shape).astype(np.float32)

    t = {'emb.pos': some(POSITIONS, HIDDEN), 'emb.type': some(1, HIDDEN), 'emb.ln.w': some(HIDDEN) + 1, 'emb.ln.b': some(HIDDEN)}
    for i in range(2):
        for part in ('q', 'k', 'v', 'ao'):
            t[f'l{i}.{part}.w'], t[f'l{i}.{part}.b'] = some(HIDDEN, HIDDEN), some(HIDDEN)
        t[f'l{i}.fi.w'], t[f'l{i}.fi.b'] = some(INNER, HIDDEN), some(INNER)
        t[f'l{i}.fo.w'], t[f'l{i}.fo.b'] = some(HIDDEN, INNER), some(HIDDEN)
        for part in ('aln', 'oln'):
            t[f'l{i}.{part}.w'], t[f'l{i}.{part}.b'] = some(HIDDEN) + 1, some(HIDDEN)
    return Pack(HIDDEN, 2, 2, INNER, POSITIONS, 1e-5, Pieces([], np.zeros(0, np.float32), {}, 0), t)


def encoder(pack: Pack, *branches: str) -> Encoder:
    random = np.random.default_rng(4)
    words, special = (random.normal(0, 1, (count, HIDDEN)).astype(np.float32) for count in (WORDS, SPECIALS))
    torch.manual_seed(5)
    return Encoder(pack, words, special, Settings((0, 1), own=1, branches=branches)).eval()


def texts() -> torch.Tensor:
    ids = torch.randint(SPECIALS, SPECIALS + WORDS, (5, 10), generator=torch.Generator().manual_seed(6))
    ids[:, 0], ids[:, -1] = START, END
    ids[:, 1] = torch.tensor([ROLE_ID[role] for role in ('user', 'tool', 'assistant', 'tool', 'user')])
    # The last stands beside a guard.
    ids[4, 6] = ROLE_ID['system']
    return ids


@pytest.mark.parametrize(('branch', 'own'), [('tools', [1, 3]), ('guards', [4])])
def test_a_branch_scores_as_everybody_is_scored_until_it_learns_and_then_moves_its_own_alone(
    pack: Pack, branch: str, own: list[int]
) -> None:
    ids = texts()
    with torch.no_grad():
        plain, branched = encoder(pack), encoder(pack, 'guards', 'tools')
        before = plain(ids)
        assert torch.allclose(before, branched(ids), atol=1e-5)
        branched.branches[branch].layers[0].fo.weight *= -1
        moved = (before - branched(ids)).abs()
    others = [i for i in range(len(ids)) if i not in own]
    assert moved[others].max() < 1e-5
    assert moved[own].min() > 1e-3


def test_what_is_taught_counts_and_so_does_every_other_score_that_moves(pack: Pack) -> None:
    model = encoder(pack, 'tools')
    before = model.branch().requires_grad_(False).eval()
    loss, ids, positive = holding(before), texts(), torch.ones(len(LANES))
    silent = Batch(ids, torch.full((len(ids), len(LANES)), -1), torch.ones(len(ids), len(LANES)))
    assert loss(model, silent, positive) == 0
    with torch.no_grad():
        model.head.bias += 0.5
    assert torch.isclose(loss(model, silent, positive), torch.tensor(HOLD * 0.25), atol=1e-3)
    taught = silent.value.clone()
    taught[0, 0] = 1
    low, high = (loss(model, Batch(ids, torch.where(taught == 1, to, taught), silent.weight), positive) for to in (0, 1))
    # One row is taught, and four are held: to teach the other side costs the difference of the two logits alone.
    assert abs(float(low - high)) == pytest.approx(abs(float(model.beside(ids, before)[0][0, 0])), abs=1e-2)
    with torch.no_grad():
        model.layers[1].fo.weight *= -1
    assert loss(model, silent, positive) > HOLD * 0.25


def test_all_branches_are_in_the_file_and_come_back_from_it(pack: Pack, tmp_path: Path) -> None:
    model = encoder(pack, 'guards', 'tools')
    with torch.no_grad():
        for at, part in enumerate(model.branches.values()):
            part.head.weight += 1 + at
            part.layers[0].fi.weight *= -1 - at
    shape = export.Shape(HIDDEN, 2, 2, INNER, POSITIONS, 1e-5, 1, tuple(model.branches))
    built = export.build(model.named_arrays(), shape, len(LANES), 'dynamic')
    onnx.checker.check_model(built)
    (first,) = [node for node in built.graph.node if node.op_type == 'If']
    (others,) = [each.g for each in first.attribute if each.name == 'else_branch']
    (second,) = [node for node in others.node if node.op_type == 'If']
    assert (first.input[0], second.input[0]) == ('guards.taken', 'tools.taken')
    (tmp_path / 'encoder.onnx').write_bytes(built.SerializeToString())
    assert shipped.branches(tmp_path) == ('guards', 'tools')
    back = encoder(pack, 'guards', 'tools')
    shipped.read_into(back, tmp_path)
    for name, value in model.state_dict().items():
        if name != 'words':
            # Half a step of 8 bits; special pieces come in 4.
            step = float(value.abs().max()) / (127 if name != 'special' else 7)
            assert (back.state_dict()[name] - value).abs().max() <= step, name
    # A file without a branch gives the copy of what it has.
    plain = encoder(pack)
    built = export.build(plain.named_arrays(), export.Shape(HIDDEN, 2, 2, INNER, POSITIONS, 1e-5), len(LANES), 'dynamic')
    (tmp_path / 'encoder.onnx').write_bytes(built.SerializeToString())
    assert shipped.branches(tmp_path) == ()
    shipped.read_into(back, tmp_path)
    for part in back.branches.values():
        assert torch.equal(part.layers[0].fi.weight, back.layers[1].fi.weight)


def test_what_is_harmless_is_told_by_role_and_source() -> None:
    rows = [Row('x', source, 'document', {}, 0, 'tool') for source in ('a', 'a', 'b')]
    a, b = by_source(rows, np.array([0.5, 0.1, 0.8]))
    assert (a['source'], a['rows'], a['stopped'], a['forbidden']) == ('a', 2, 0.5, 0)
    assert (b['source'], b['stopped'], b['forbidden']) == ('b', 1, 1)
