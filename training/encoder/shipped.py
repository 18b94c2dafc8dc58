"""Weights of an exported encoder, read back: training may go on from what ships.

Checkpoints are not kept. The export is: its 8-bit weights, multiplied by their scales, are within half a step of those
that were trained.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from .e5pack import Pieces
from .model import Encoder
from .vocabulary import SPECIAL


def kept_pieces(tokenizer: Path, pieces: Pieces) -> list[int]:
    """The numbers, in the base, of the pieces that an exported tokenizer keeps."""
    vocabulary = [text for text, _ in json.loads(tokenizer.read_text())['model']['vocab']]
    number = {text: i for i, text in enumerate(pieces.texts)}
    return [number[text] for text in vocabulary[len(SPECIAL) + 1 :]]


def _constants(folder: Path) -> dict[str, onnx.TensorProto]:
    """Those of the graph, and of the graphs within it."""
    graph = onnx.load(folder / 'encoder.onnx').graph
    within = [a.g for node in graph.node for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    return {constant.name: constant for each in (graph, *within) for constant in each.initializer}


def own_layers(folder: Path) -> int:
    """How many layers an exported encoder has for what tools bring alone."""
    return len({name.split('.')[1] for name in _constants(folder) if name.startswith('tools.l')})


def read_into(model: Encoder, folder: Path) -> None:
    """Takes the weights of `encoder.onnx` in `folder`, exported the way `dynamic`.

    :raises KeyError: the file was exported another way, or has other layers
    """
    constants = _constants(folder)

    def array(name: str) -> np.ndarray:
        return numpy_helper.to_array(constants[name]).astype(np.float32)

    def fill(to: torch.Tensor, value: np.ndarray) -> None:
        to.copy_(torch.from_numpy(np.ascontiguousarray(value)))

    with torch.no_grad():
        fill(model.special, _special(constants, model.special.shape))
        fill(model.places, array('positions'))
        fill(model.norm.weight, array('emb.ln.w'))
        fill(model.norm.bias, array('emb.ln.b'))
        # Lanes are added at the end: one that the file does not have has learnt nothing yet.
        learnt = array('head.b').shape[0]
        fill(model.head.weight[:learnt], array('head.w').T)
        fill(model.head.bias[:learnt], array('head.b'))
        layers = [(f'l{i}', layer) for i, layer in enumerate(model.layers)]
        if model.tools is not None and 'tools.head.w' in constants:
            fill(model.tools.head.weight, array('tools.head.w').T)
            fill(model.tools.head.bias, array('tools.head.b'))
            layers += [(f'tools.l{i}', layer) for i, layer in enumerate(model.tools.layers, model.shared)]
        for at, layer in layers:
            for name in ('qkv', 'ao', 'fi', 'fo'):
                part = getattr(layer, name)
                fill(part.weight, (array(f'{at}.{name}.q') * array(f'{at}.{name}.s')).T)
                fill(part.bias, array(f'{at}.{name}.b'))
            for name in ('aln', 'oln'):
                fill(getattr(layer, name).weight, array(f'{at}.{name}.w'))
                fill(getattr(layer, name).bias, array(f'{at}.{name}.b'))
        if model.tools is not None and 'tools.head.w' not in constants:
            # It has learnt nothing of its own yet.
            model.tools = model.branch()


def _special(constants: dict[str, onnx.TensorProto], shape: torch.Size) -> np.ndarray:
    """The embeddings of the special pieces, out of 4 bits (see `export.quantise_table`): (special ones, hidden)."""
    rows, width = shape
    scale = numpy_helper.to_array(constants['emb.s'])[:rows].astype(np.float32)
    packed = np.frombuffer(constants['emb.q'].raw_data, np.uint8)[: rows * width // 2].reshape(rows, -1)
    whole = np.empty((rows, width), np.int8)
    whole[:, 0::2], whole[:, 1::2] = packed & 15, packed >> 4
    whole[whole > 7] -= 16
    return (whole.reshape(rows, scale.shape[1], -1) * scale[:, :, None]).reshape(rows, width)
