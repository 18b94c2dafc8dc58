"""The run on the device, in two parts: teachers with the student that ships, and a student a fold whose held-out scores say what is unseen.

Neither part needs what the other came to, so that each may be a call of its own. Times are shares of the seconds given. What is finished is written at once.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from ..answered import ANSWERS
from ..asked import ABROAD, ASKED, JAILBREAKS, REMARKS, REQUESTS
from ..lanes import LANE, LANES
from ..metrics import auroc
from ..model import BRANCHES, Encoder, Settings
from ..pairs import PAIRS, SENTENCES
from ..rows import ROLES
from .carried import Carried, read_base, read_rows
from .laid import GUARDS, MAIN, TOOLS, Desk, Way
from .learnt import Run, learn, scores
from .results import write

# Of the seconds given for the student that ships: all teachers take so much.
TEACHERS = 0.46
KEPT = (0, 2, 4, 6, 8, 10)
# Rows of a source that are scored of a fold, and of those that no run learns from.
HELD, KNOWN = 500, 200
# By source of rows that were written one at a time: the lane that says most of it.
LANE_OF = {REQUESTS: 'harmful_request', ABROAD: 'harmful_request', JAILBREAKS: 'jailbreak', REMARKS: 'hate', ANSWERS: 'harmful_answer', PAIRS: 'guarded'}


def ways(rows: Carried, which: np.ndarray, most: int) -> list[Way]:
    """What goes through the layers that read everybody, through those of tools and those of guards.

    :param which: (rows,) of bool: what may be learnt from
    """
    guarded = rows.guard_count > 0
    # Of tools' words, documents of people are many: as many again as what tells orders from honest words.
    return [
        Way(MAIN, np.flatnonzero(which & ~guarded & (rows.role != ROLES.index('tool'))), most, (*ASKED, ANSWERS)),
        Way(TOOLS, np.flatnonzero(which & rows.tools), most // 4, ('grammar:agent_written', 'composed:ordered', 'composed:injected')),
        # What people ask elsewhere is harmless beside every prompt, and many times as much: prompts are to be half of what is read.
        Way(GUARDS, np.flatnonzero(which & guarded), most * 3 // 8, (PAIRS, SENTENCES)),
    ]


@dataclass
class Rig:
    """What both parts stand on: the rows, and how a model begins."""

    data: Path
    out: Path
    most: int
    budget: int
    only: float

    def __post_init__(self) -> None:
        began = time.monotonic()
        self.device = 'cuda' if torch.cuda.is_available() else 'cpu'
        torch.set_float32_matmul_precision('high')
        self.rows = read_rows(self.data)
        self.pack, self.words, self.special = read_base(self.data)
        self.desk = Desk(self.rows, self.device)
        self.free = ~self.rows.aside & (np.random.default_rng(3).random(len(self.rows.begin)) < self.only)
        self.out.mkdir(parents=True, exist_ok=True)
        card = torch.cuda.get_device_name() if self.device == 'cuda' else 'cpu'
        self.told: dict[str, object] = {'device': card, 'torch': torch.__version__}
        print(f'{card}: read in {time.monotonic() - began:.0f} s, {self.free.sum()} rows', flush=True)

    def new(self, layers: tuple[int, ...], seed: int) -> Encoder:
        torch.manual_seed(seed)
        return Encoder(self.pack, self.words, self.special, Settings(layers, branches=BRANCHES)).to(self.device)

    def tell(self, part: str) -> None:
        (self.out / f'told-{part}.json').write_text(json.dumps(self.told))


def run(
    data: Path, out: Path, part: str, seconds: float, most: int, teachers: int, budget: int, folds: int, only: float
) -> None:
    """
    :param part: `student` or `folds`
    :param most: rows of a source in an epoch
    :param budget: pieces of a batch
    :param only: the share of all rows that is used, for a trial
    """
    began = time.monotonic()
    rig = Rig(data, out, most, budget, only)
    if part == 'student':
        _student(rig, seconds, teachers)
    else:
        _folds(rig, seconds, folds)
    print(f'all in {time.monotonic() - began:.0f} s', flush=True)


def _student(rig: Rig, seconds: float, teachers: int) -> None:
    """The student that ships, which all teachers teach."""
    all_ways = ways(rig.rows, rig.free, rig.most)
    masters: list[Encoder] = []
    for number in range(teachers):
        master = rig.new(tuple(range(rig.pack.layers)), 11 + number)
        a_run = Run(seconds * TEACHERS / teachers, 1.5e-4, budget=rig.budget, seed=11 + number, name=f'teacher {number}')
        rig.told[a_run.name] = learn(master, rig.desk, all_ways, a_run)
        masters.append(master.eval().requires_grad_(False))
        print(f'{a_run.name} of rows kept back: {told_apart(master, rig.desk)}', flush=True)
    student = rig.new(KEPT, 1)
    if masters:
        _take_after(student, masters[0])
    left = seconds * (1 - TEACHERS) if masters else seconds
    rig.told['student'] = learn(student, rig.desk, all_ways, Run(left, 3e-4, budget=rig.budget, name='student'), masters)
    write(student, rig.out)
    rig.tell('student')
    print(f'student of rows kept back: {told_apart(student, rig.desk)}', flush=True)


def _folds(rig: Rig, seconds: float, folds: int) -> None:
    """A student a fold, as it is learnt where the fold is not known: without a teacher, who would know it."""
    unseen: dict[str, np.ndarray] = {}
    rows = rig.rows
    for fold in range(folds):
        model = rig.new(KEPT, 21 + fold)
        a_run = Run(seconds / folds, 3e-4, budget=rig.budget, mined=0, seed=21 + fold, name=f'fold {fold}')
        rig.told[a_run.name] = learn(model, rig.desk, ways(rows, rig.free & (rows.fold != fold), rig.most // 2), a_run)
        unseen |= {f'{fold}.{name}': value for name, value in held(model, rig.desk, fold).items()}
        # One file: some places bring few files back.
        np.savez(rig.out / 'held.npz', **unseen)
        rig.tell('folds')


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


def told_apart(model: Encoder, desk: Desk) -> dict[str, float]:
    """How well a lane tells harmful rows that nothing was learnt from and their honest twins apart: the area under the curve, by source."""
    rows, found = desk.rows, {}
    for source, lane in LANE_OF.items():
        number = rows.sources.index(source)
        which = np.flatnonzero(rows.aside & (rows.source == number))
        said = scores(model, desk, which)[0][:, LANE[lane]]
        bad = rows.value[which, LANE['guarded']] == 1 if source == PAIRS else ~rows.benign[which]
        found[source] = round(auroc(said[bad], said[~bad]), 4)
    return found


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
