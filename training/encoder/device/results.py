"""What comes back: weights in the 8 bits in which they ship, and held-out scores.

Matrices are signed 8 bits with one scale for each output, as `export.quantise_columns` has them, so that nothing is lost on the way.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch

from ..base import new_encoder
from ..export import quantise_columns
from ..model import BRANCHES, Encoder, Settings


def write(model: Encoder, out: Path) -> None:
    """Writes `weights-*.npz`: what all read, and a file a branch."""
    out.mkdir(parents=True, exist_ok=True)
    for name, kept in packed(model).items():
        np.savez_compressed(out / f'weights-{name}.npz', **kept)


def packed(model: Encoder) -> dict[str, dict[str, np.ndarray]]:
    """The weights by part (`all`, and the branches) and name: whole numbers with their scales, or as they are."""
    parts: dict[str, dict[str, np.ndarray]] = {}
    for name, tensor in model.state_dict().items():
        if name == 'words' and model.settings.frozen:
            continue
        kept = parts.setdefault(name.split('.')[1] if name.startswith('branches.') else 'all', {})
        value = tensor.float().cpu().numpy()
        if value.ndim == 2 and '.' in name and 'head' not in name:
            whole, kept[f'{name}:scale'] = quantise_columns(value.T)
            kept[name] = whole.T
        else:
            kept[name] = value.astype(np.float32)
    return parts


def unpack(work: Path, results: Path) -> None:
    """Leaves `round-0.pt`, `round-0.json` and `held-N.npz` in the work folder, as `train` and `folds` would, of the parts that came back."""
    told = {part: json.loads(file.read_text()) for part in ('student', 'folds') if (file := results / f'told-{part}.json').exists()}
    if 'student' in told:
        _unpack_student(work, results, told['student'])
    if 'folds' in told:
        held = np.load(results / 'held.npz')
        for fold in sorted({name.partition('.')[0] for name in held.files}):
            mine = {name.partition('.')[2]: held[name] for name in held.files if name.startswith(f'{fold}.')}
            np.savez(work / f'held-{fold}.npz', **mine)


def _unpack_student(work: Path, results: Path, told: dict[str, object]) -> None:
    settings = Settings(branches=BRANCHES)
    model, _ = new_encoder(work, settings)
    state = model.state_dict()
    for file in sorted(results.glob('weights-*.npz')):
        found = np.load(file)
        for name in found.files:
            if not name.endswith(':scale'):
                value = found[name]
                if value.dtype == np.int8:
                    value = value.astype(np.float32) * found[f'{name}:scale'][:, None]
                state[name] = torch.from_numpy(value)
    model.load_state_dict(state)
    torch.save({'model': model.state_dict(), 'settings': settings, 'told': told}, work / 'round-0.pt')
    (work / 'round-0.json').write_text(json.dumps(told))
