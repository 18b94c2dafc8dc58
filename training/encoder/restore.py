"""An encoder that ships, back in torch: for what is fitted on top of weights whose checkpoint is elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from tokenizers import Tokenizer

from .base import base_file
from .e5pack import read_pack
from .export import BLOCK
from .model import Encoder, Settings
from .vocabulary import SPECIAL


def restore(folder: Path) -> tuple[Encoder, Tokenizer]:
    """The encoder of `encoder.onnx`, as its 8-bit weights say, and its tokenizer.

    :raises KeyError: the file was not written by `export.build` with `way='dynamic'`
    """
    model = onnx.load(folder / 'encoder.onnx')
    constants = {c.name: c for c in model.graph.initializer}

    def read(name: str) -> np.ndarray:
        return numpy_helper.to_array(constants[name])

    scales = read('emb.s').astype(np.float32)
    packed = np.frombuffer(constants['emb.q'].raw_data, np.uint8).reshape(scales.shape[0], -1)
    whole = np.empty((packed.shape[0], packed.shape[1] * 2), np.int8)
    whole[:, 0::2], whole[:, 1::2] = packed & 15, packed >> 4
    whole = np.where(whole > 7, whole - 16, whole)
    words = (whole.reshape(len(whole), -1, BLOCK) * scales[:, :, None]).reshape(len(whole), -1).astype(np.float32)
    count = sum(name.endswith('.qkv.q') for name in constants)
    # Which layers of the base they were does not matter here.
    special = len(SPECIAL) + 1
    encoder = Encoder(read_pack(base_file()), words[special:], words[:special], Settings(tuple(range(count))))
    state = {
        'places': read('positions'),
        'norm.weight': read('emb.ln.w'),
        'norm.bias': read('emb.ln.b'),
        'head.weight': read('head.w').T,
        'head.bias': read('head.b'),
    }
    for i in range(count):
        for part in ('qkv', 'ao', 'fi', 'fo'):
            name = f'l{i}.{part}'
            state[f'layers.{i}.{part}.weight'] = (read(f'{name}.q') * read(f'{name}.s')).T
            state[f'layers.{i}.{part}.bias'] = read(f'{name}.b')
        for part in ('aln', 'oln'):
            state[f'layers.{i}.{part}.weight'] = read(f'l{i}.{part}.w')
            state[f'layers.{i}.{part}.bias'] = read(f'l{i}.{part}.b')
    own = encoder.state_dict()
    own.update({name: torch.from_numpy(np.array(value, np.float32)) for name, value in state.items()})
    encoder.load_state_dict(own)
    encoder.eval()
    return encoder, Tokenizer.from_file(str(folder / 'encoder.tokenizer.json'))
