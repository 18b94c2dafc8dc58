"""The command: `python -m encoder all --data DIR --work DIR --modules DIR --out DIR`; see training/README.md."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEPS = ('prepare', 'train', 'folds', 'report', 'calibrate', 'asked', 'answered', 'written', 'abroad', 'guarded', 'tools', 'need', 'mix', 'teach', 'names', 'export', 'add-names', 'add-need', 'all')


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(prog='python -m encoder', description=__doc__)
    p.add_argument('step', choices=STEPS)
    p.add_argument(
        '--work', type=Path, required=True, help='folder for rows, checkpoints and scores; outside the checkout'
    )
    p.add_argument('--data', type=Path, help='folder that holds train/ (for prepare)')
    p.add_argument(
        '--installed',
        type=Path,
        nargs='*',
        default=[
            ROOT / 'node_modules',
            Path('/usr/share'),
            Path('/usr/lib/python3'),
            Path('/usr/include'),
            Path('/etc'),
        ],
        help='folders of installed packages whose code is learnt from',
    )
    p.add_argument('--modules', type=Path, default=ROOT, help='folder whose node_modules hold the serving libraries')
    p.add_argument('--out', type=Path, help='folder for the exported files')
    p.add_argument('--checkpoint', type=Path, help='what to export; default: the last round')
    p.add_argument('--before', type=Path, help='mix: the checkpoint that the last round went on from')
    p.add_argument('--share', type=float, default=0.7, help='mix: of the last round, 0 to 1')
    p.add_argument('--pieces', type=int, default=75_000, help='pieces of the vocabulary')
    p.add_argument('--layers', default='0,2,4,6,8,10', help="the base's layers to keep")
    p.add_argument('--thaw', action='store_true', help='train the embeddings too (they then lose a little in 4 bits)')
    p.add_argument('--way', choices=('dynamic', 'blocks', 'float'), default='dynamic', help='how the export multiplies')
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--threads', type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument('--epochs', type=int, default=3, help='rounds of one epoch each')
    p.add_argument('--minutes', type=float, default=0, help='by the clock, for all rounds or all folds; 0: no bound')
    p.add_argument('--most', type=int, default=4000, help='rows of a source in an epoch')
    p.add_argument('--fold-most', type=int, default=600, help='the same, for the runs of the folds')
    p.add_argument('--held-most', type=int, default=500, help='held-out rows of a source that are scored')
    p.add_argument('--fold', type=int, nargs='*', help='only these folds')
    p.add_argument('--length', type=int, default=96, help='pieces of a window in training, marks included')
    p.add_argument('--batch', type=int, default=6144, help='pieces of a batch')
    p.add_argument('--without', type=int, default=-1, help='a fold whose harmless sources the model that ships leaves out')
    p.add_argument('--name-rows', type=int, default=18_000, help='sentences that the reader of names learns from')
    p.add_argument('--whole', nargs='*', default=[], help='sources, by the beginnings of their names, of which every row is in')
    p.add_argument('--roles', nargs='*', default=['user', 'tool', 'assistant'], help='teach: whose words are read')
    p.add_argument('--labels', action='store_true', help='teach: what labels say of what tools bring; nothing is scored')
    p.add_argument('--rate', type=float, default=2e-4)
    p.add_argument('--start', type=Path, help='folder with an exported encoder to go on from, as config/models')
    p.add_argument('--names-of', type=Path, help='export: the folder whose reader of names goes along, where none was fitted')
    p.add_argument(
        '--translations', type=Path, nargs='*', default=[], help='folders of packages with translations; see README'
    )
    p.add_argument(
        '--mined', type=int, default=30_000, help='harmless rows that are looked at for hard ones after a round'
    )
    p.add_argument('--linear', action='store_true', help='train and measure the linear reader on the same folds')
    p.add_argument('--quick', action='store_true', help='a small run, to see that everything works')
    return p


def main() -> None:
    """Runs the step, or all of them in order."""
    args = parser().parse_args()
    if ROOT in (args.work.resolve(), *args.work.resolve().parents):
        raise SystemExit('--work must lie outside the checkout: checkpoints are not committed')
    for name in ('OMP_NUM_THREADS', 'RAYON_NUM_THREADS'):
        os.environ.setdefault(name, str(args.threads))
    import torch

    from . import lessons, runs
    from .model import Settings

    torch.set_num_threads(args.threads)
    layers = tuple(int(number) for number in args.layers.split(','))
    options = runs.Options(
        args.work,
        args.seed,
        args.most,
        args.epochs,
        args.minutes,
        args.length,
        Settings(layers, not args.thaw),
        args.fold_most,
        args.held_most,
        mined=args.mined,
        rate=args.rate,
        budget=args.batch,
        without=args.without,
        start=args.start,
        whole=tuple(args.whole),
    )
    if args.quick:
        options = runs.quick(options)
    if args.step in ('prepare', 'all'):
        _prepare(args)
    if args.step in ('train', 'all'):
        runs.full(options)
    if args.step in ('folds', 'all'):
        from .relatives import FOLDS

        for fold in args.fold if args.fold is not None else range(FOLDS):
            runs.fold_run(options, fold, args.linear)
    if args.step in ('report', 'folds', 'all'):
        runs.report(options)
    if args.step in ('calibrate', 'all'):
        from .settle import calibrate

        told = calibrate(options, args.checkpoint)
        print(json.dumps(told['asked'], indent=1))
        if args.start is not None and args.out is not None:
            from .ship import confide

            confide(args.out, args.work)
    if args.step in lessons.LESSONS:
        print(json.dumps(lessons.learn(options, args.step), indent=1))
    if args.step == 'guarded':
        from .guard_run import learn

        print(json.dumps(learn(options), indent=1))
    if args.step == 'tools':
        from . import tools

        print(json.dumps(tools.learn(options), indent=1))
    if args.step in ('need', 'all'):
        from .need import fit

        checkpoint = args.checkpoint or (runs.last_round(args.work) if args.step == 'all' else None)
        print(json.dumps(fit(options, checkpoint), indent=1))
    if args.step == 'add-need':
        from .ship import add_need

        add_need(args.out or ROOT / 'config' / 'models', args.work)
    if args.step == 'mix':
        if args.before is None:
            raise SystemExit('--before is needed: the checkpoint that the last round went on from')
        last = runs.last_round(args.work)
        runs.mix(args.before, last, args.share, last.with_name(f'{last.stem}-mixed.pt'))
    if args.step == 'teach' and args.labels:
        from .tools import by_labels

        by_labels(options, args.work / 'labels.jsonl')
    elif args.step == 'teach':
        # No part of `all`: it asks weights that are exported.
        from .teach import teach

        teach(options, args.work / 'teacher.jsonl', args.most, tuple(args.roles))
    if args.step in ('names', 'all'):
        from .name_run import names

        print(json.dumps(names(args.work, args.name_rows, args.minutes or 20, args.seed), indent=1))
    if args.step == 'add-names':
        from .ship import add_names

        add_names(args.out or ROOT / 'config' / 'models', args.work, args.way)
    if args.step in ('export', 'all'):
        from .ship import ship

        if args.out is None:
            raise SystemExit('--out is needed: the folder for the exported files')
        told = ship(
            args.work,
            args.checkpoint or runs.last_round(args.work),
            args.out,
            args.modules,
            args.way,
            args.seed,
            args.start,
            args.names_of,
        )
        print(json.dumps(told['checked'], indent=1))


def _prepare(args: argparse.Namespace) -> None:
    from .base import base_file
    from .dataset import prepare
    from .grammar_rows import grammar_rows
    from .installed import installed_rows
    from .translated import translated_rows

    if args.data is None:
        raise SystemExit('--data is needed: the folder that holds train/')
    args.work.mkdir(parents=True, exist_ok=True)
    made = grammar_rows(args.work, args.seed) + installed_rows(args.installed, args.seed)
    made += translated_rows(args.translations, args.seed)
    prepare(args.work, args.data, base_file(), made, args.pieces, args.seed, args.start)


if __name__ == '__main__':
    main()
