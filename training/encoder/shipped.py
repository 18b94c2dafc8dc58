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
from .model import BRANCHES, Encoder
from .vocabulary import SPECIAL


def kept_pieces(tokenizer: Path, pieces: Pieces) -> list[int]:
    """The numbers, in the base, of the pieces that an exported tokenizer keeps."""
    vocabulary = [text for text, _ in json.loads(tokenizer.read_text())['model']['vocab']]
    number = {text: i for i, text in enumerate(pieces.texts)}
    return [number[text] for text in vocabulary[len(SPECIAL) + 1 :]]


def _constants(folder: Path) -> dict[str, onnx.TensorProto]:
    """Those of the graph, and of the graphs within it."""
    found: dict[str, onnx.TensorProto] = {}
    graphs = [onnx.load(folder / 'encoder.onnx').graph]
    while graphs:
        graph = graphs.pop()
        found |= {constant.name: constant for constant in graph.initializer}
        graphs += [a.g for node in graph.node for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    return found


def branches(folder: Path) -> tuple[str, ...]:
    """Whose windows have layers of their own in an exported encoder."""
    names = _constants(folder)
    return tuple(name for name in BRANCHES if f'{name}.head.w' in names)


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
        known = branches(folder)
        for name, part in model.branches.items():
            if name in known:
                fill(part.head.weight, array(f'{name}.head.w').T)
                fill(part.head.bias, array(f'{name}.head.b'))
                layers += [(f'{name}.l{i}', layer) for i, layer in enumerate(part.layers, model.shared)]
        for at, layer in layers:
            for name in ('qkv', 'ao', 'fi', 'fo'):
                part = getattr(layer, name)
                fill(part.weight, (array(f'{at}.{name}.q') * array(f'{at}.{name}.s')).T)
                fill(part.bias, array(f'{at}.{name}.b'))
            for name in ('aln', 'oln'):
                fill(getattr(layer, name).weight, array(f'{at}.{name}.w'))
                fill(getattr(layer, name).bias, array(f'{at}.{name}.b'))
        for name in model.branches.keys() - set(known):
            # It has learnt nothing of its own yet.
            model.branches[name] = model.branch()


def _special(constants: dict[str, onnx.TensorProto], shape: torch.Size) -> np.ndarray:
    """The embeddings of the special pieces, out of 4 bits (see `export.quantise_table`): (special ones, hidden)."""
    rows, width = shape
    scale = numpy_helper.to_array(constants['emb.s'])[:rows].astype(np.float32)
    packed = np.frombuffer(constants['emb.q'].raw_data, np.uint8)[: rows * width // 2].reshape(rows, -1)
    whole = np.empty((rows, width), np.int8)
    whole[:, 0::2], whole[:, 1::2] = packed & 15, packed >> 4
    whole[whole > 7] -= 16
    return (whole.reshape(rows, scale.shape[1], -1) * scale[:, :, None]).reshape(rows, width)
