"""The whole run on the device: teachers, the student that ships, and a student a fold whose held-out scores say what is unseen.

Times are shares of the seconds given. What is finished is written at once.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import torch

from ..lanes import LANES
from ..model import BRANCHES, Encoder, Settings
from ..rows import ROLES
from .carried import Carried, read_base, read_rows
from .laid import GUARDS, MAIN, TOOLS, Desk, Way
from .learnt import Run, learn, scores
from .results import write

# Of the seconds given: all teachers, the student, all folds.
SHARES = (0.37, 0.36, 0.2)
KEPT = (0, 2, 4, 6, 8, 10)
# Rows of a source that are scored of a fold, and of those that no run learns from.
HELD, KNOWN = 500, 200


def ways(rows: Carried, which: np.ndarray, most: int) -> list[Way]:
    """What goes through the layers that read everybody, through those of tools and those of guards.

    :param which: (rows,) of bool: what may be learnt from
    """
    guarded = rows.guard_count > 0
    # Of tools' words, documents of people are many: as many again as what tells orders from honest words.
    return [
        Way(MAIN, np.flatnonzero(which & ~guarded & (rows.role != ROLES.index('tool'))), most),
        Way(TOOLS, np.flatnonzero(which & rows.tools), most // 4, ('grammar:agent_written', 'composed:ordered', 'composed:injected')),
        Way(GUARDS, np.flatnonzero(which & guarded), most // 4, ('written:',)),
    ]


def run(
    data: Path, out: Path, seconds: float, most: int, teachers: int, budget: int, folds: int, only: float
) -> None:
    """
    :param most: rows of a source in an epoch
    :param budget: pieces of a batch
    :param only: the share of all rows that is used, for a trial
    """
    began = time.monotonic()
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    torch.set_float32_matmul_precision('high')
    rows = read_rows(data)
    pack, words, special = read_base(data)
    desk = Desk(rows, device)
    free = ~rows.aside & (np.random.default_rng(3).random(len(rows.begin)) < only)
    print(f'{device}: read in {time.monotonic() - began:.0f} s, {free.sum()} rows', flush=True)
    told: dict[str, object] = {'device': torch.cuda.get_device_name() if device == 'cuda' else 'cpu', 'torch': torch.__version__}

    def new(layers: tuple[int, ...], seed: int) -> Encoder:
        torch.manual_seed(seed)
        return Encoder(pack, words, special, Settings(layers, branches=BRANCHES)).to(device)

    all_ways = ways(rows, free, most)
    masters: list[Encoder] = []
    for number in range(teachers):
        master = new(tuple(range(pack.layers)), 11 + number)
        a_run = Run(seconds * SHARES[0] / teachers, 1.5e-4, budget=budget, seed=11 + number, name=f'teacher {number}')
        told[a_run.name] = learn(master, desk, all_ways, a_run)
        masters.append(master.eval().requires_grad_(False))
    student = new(KEPT, 1)
    if masters:
        _take_after(student, masters[0])
    told['student'] = learn(student, desk, all_ways, Run(seconds * SHARES[1], 3e-4, budget=budget, name='student'), masters)
    write(student, out)
    (out / 'told.json').write_text(json.dumps(told))
    unseen: dict[str, np.ndarray] = {}
    for fold in range(folds):
        # As it is learnt where the fold is not known: without a teacher, who would know it.
        model = new(KEPT, 21 + fold)
        a_run = Run(seconds * SHARES[2] / folds, 3e-4, budget=budget, mined=0, seed=21 + fold, name=f'fold {fold}')
        told[a_run.name] = learn(model, desk, ways(rows, free & (rows.fold != fold), most // 2), a_run)
        unseen |= {f'{fold}.{name}': value for name, value in held(model, desk, fold).items()}
        # One file: some places bring few files back.
        np.savez(out / 'held.npz', **unseen)
        (out / 'told.json').write_text(json.dumps(told))
    print(f'all in {time.monotonic() - began:.0f} s', flush=True)


def _take_after(student: Encoder, master: Encoder) -> None:
    """The student begins with every second layer of its master, and with its heads."""
    theirs = [*master.layers]
    with torch.no_grad():
        for place, layer in zip(KEPT, student.layers, strict=True):
            layer.load_state_dict(theirs[place].state_dict())
        for name in ('special', 'places'):
            getattr(student, name).copy_(getattr(master, name))
        student.norm.load_state_dict(master.norm.state_dict())
        student.head.load_state_dict(master.head.state_dict())
        for name, part in student.branches.items():
            own = master.branches[name]
            first = len(theirs) - len(own.layers)
            for place, layer in zip(KEPT[-len(part.layers) :], part.layers, strict=True):
                source = own.layers[place - first] if place >= first else theirs[place]
                layer.load_state_dict(source.state_dict())
            part.head.load_state_dict(own.head.state_dict())


def held(model: Encoder, desk: Desk, fold: int) -> dict[str, np.ndarray]:
    """The scores of rows of a fold that a model did not know, as `runs.fold_run` keeps them; and of rows that no run knows, of sources that it knew."""
    rows = desk.rows
    random = np.random.default_rng(7)
    mine = _some(rows, np.flatnonzero(rows.fold == fold), HELD, random)
    pasted = np.array([name.startswith('composed:pasted') for name in rows.sources])
    again = mine[rows.benign[mine] & (rows.role[mine] == 0) & (rows.guard_count[mine] == 0) & ~pasted[rows.source[mine]]]
    plain = rows.aside & rows.benign & (rows.fold >= 0) & (rows.guard_count == 0) & (rows.role == 0)
    known = _some(rows, np.flatnonzero(plain & (rows.fold != fold)), KNOWN, random)
    kept = {'rows': mine, 'again': again, 'known': known, 'encoder': scores(model, desk, mine)[0]}
    kept['encoder_known'] = scores(model, desk, known)[0]
    for name in ('tool', 'assistant'):
        kept[f'encoder_{name}'] = scores(model, desk, again, ROLES.index(name))[0]
        kept[f'encoder_known_{name}'] = scores(model, desk, known, ROLES.index(name))[0]
    assert kept['encoder'].shape[1] == len(LANES)
    return {name: value.astype(np.float16) if value.dtype == np.float32 else value.astype(np.int32) for name, value in kept.items()}


def _some(rows: Carried, which: np.ndarray, most: int, random: np.random.Generator) -> np.ndarray:
    """At most so many rows of a source, sorted."""
    order = random.permutation(which)
    order = order[np.argsort(rows.source[order], kind='stable')]
    sizes = np.bincount(rows.source[order], minlength=len(rows.sources))
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place < most])
