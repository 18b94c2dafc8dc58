"""Both sides of a run on another machine; see training/README.md.

`pack --work W --to DIR` here, `run --data DIR --out OUT` there, `unpack --work W --results OUT` here.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def main() -> None:
    """Runs the side that is named."""
    p = argparse.ArgumentParser(prog='python -m encoder.device', description=__doc__)
    p.add_argument('side', choices=('pack', 'run', 'unpack'))
    p.add_argument('--work', type=Path, help='pack, unpack: the work folder')
    p.add_argument('--to', type=Path, help='pack: the folder that travels')
    p.add_argument('--data', type=Path, help='run: that folder')
    p.add_argument('--out', type=Path, help='run: for what comes back')
    p.add_argument('--results', type=Path, help='unpack: what came back')
    p.add_argument('--part', choices=('student', 'folds'), default='student', help='run: which of both')
    p.add_argument('--seconds', type=float, default=540, help='run: by the clock, for what is learnt; twenty more go to reading')
    p.add_argument('--most', type=int, default=4000, help='run: rows of a source in an epoch')
    p.add_argument('--teachers', type=int, default=2)
    p.add_argument('--budget', type=int, default=32_768, help='run: pieces of a batch')
    p.add_argument('--folds', type=int, default=5)
    p.add_argument('--only', type=float, default=1.0, help='run: the share of rows, for a trial')
    args = p.parse_args()
    if args.side == 'pack':
        from .carried import carry

        carry(args.work, args.to)
    elif args.side == 'run':
        from .run import run

        run(args.data, args.out, args.part, args.seconds, args.most, args.teachers, args.budget, args.folds, args.only)
    else:
        from .results import unpack

        unpack(args.work, args.results)


if __name__ == '__main__':
    main()
