"""The ONNX file of a trained encoder: one text a run, 4-bit embeddings as the base has them, 8-bit weights, signed.

The graph is written node by node, so that it holds nothing but what serving needs: `input_ids` (1, tokens) in, `scores`
(1, lanes) out, as logits, and `word` (1, tokens, hidden), the embeddings as they are looked up, for the reader of names
(`build_names`): whoever does not ask for them pays nothing for them. Two ways to multiply are known:

- `blocks`: MatMulNBits with 8 bits. Weights have a scale for every 32 numbers, activations one for every token and 32
  numbers, so that no token's scale depends on another text, nor on another token.
- `dynamic`: DynamicQuantizeMatMul. Weights have a scale for each output, activations one for the whole run, which holds
  one text only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .vocabulary import ROLE_ID

BLOCK = 32
# The score of need where nobody's need is read: what tools bring, and texts beside guards.
NOT_READ = -30.0
MS = 'com.microsoft'


@dataclass(frozen=True)
class Shape:
    """Sizes of the encoder. `branches`: whose windows the last `own` layers are there for once more (`model.BRANCHES`)."""

    hidden: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float
    own: int = 0
    branches: tuple[str, ...] = ()


@dataclass
class Graph:
    """A graph under construction."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def constant(self, name: str, value: np.ndarray) -> str:
        """Adds a constant and returns its name."""
        self.constants.append(numpy_helper.from_array(np.array(value, order='C'), name))
        return name

    def add(self, kind: str, inputs: list[str], output: str, domain: str = '', **attributes: object) -> str:
        """Adds an operator with one output and returns that output's name."""
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes))
        return output


def quantise_columns(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Signed 8 bits with one scale for each column. `weight`: (in, out)."""
    scale = np.maximum(np.abs(weight).max(axis=0), 1e-8) / 127
    return np.clip(np.rint(weight / scale), -127, 127).astype(np.int8), scale.astype(np.float32)


def quantise_blocks(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eight bits around 128 with one scale for every 32 numbers of a row. `weight`: (out, in).

    :returns: bytes (out, blocks, 32), scales (out, blocks)
    """
    out, width = weight.shape
    blocks = weight.reshape(out, width // BLOCK, BLOCK)
    scale = np.maximum(np.abs(blocks).max(axis=2), 1e-8) / 127
    return (np.clip(np.rint(blocks / scale[:, :, None]), -127, 127) + 128).astype(np.uint8), scale.astype(np.float32)


def quantise_table(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Four bits, signed, with one scale for every 32 numbers of a row: without loss where the rows came that way.

    :returns: bytes (rows, width / 2), the even number in the low half; scales (rows, blocks) as float16
    """
    rows, width = table.shape
    blocks = table.reshape(rows, width // BLOCK, BLOCK)
    # The base's blocks have their largest number at -8 (see Q4_0): the scale keeps its sign.
    at = np.abs(blocks).argmax(axis=2)
    largest = np.take_along_axis(blocks, at[:, :, None], axis=2)[:, :, 0]
    scale = (largest / -8).astype(np.float16)
    safe = np.where(scale == 0, 1, scale).astype(np.float32)
    whole = np.clip(np.rint(blocks / safe[:, :, None]), -8, 7).astype(np.int8).view(np.uint8).reshape(rows, width) & 15
    return whole[:, 0::2] | (whole[:, 1::2] << 4), scale


def multiply(graph: Graph, x: str, weight: np.ndarray, bias: np.ndarray | None, name: str, way: str) -> str:
    """`x` times the transpose of `weight` (out, in), plus `bias`."""
    out, width = weight.shape
    if way == 'blocks':
        q, scale = quantise_blocks(weight)
        inputs = [x, graph.constant(f'{name}.q', q), graph.constant(f'{name}.s', scale.ravel())]
        if bias is not None:
            inputs += ['', '', graph.constant(f'{name}.b', bias)]
        return graph.add('MatMulNBits', inputs, name, MS, K=width, N=out, bits=8, block_size=BLOCK, accuracy_level=4)
    if way == 'dynamic':
        q, scale = quantise_columns(weight.T)
        inputs = [x, graph.constant(f'{name}.q', q), graph.constant(f'{name}.s', scale), '']
        if bias is not None:
            inputs.append(graph.constant(f'{name}.b', bias))
        return graph.add('DynamicQuantizeMatMul', inputs, name, MS)
    if way == 'float':
        product = graph.add('MatMul', [x, graph.constant(f'{name}.w', weight.T)], f'{name}.product')
        if bias is None:
            return product
        return graph.add('Add', [product, graph.constant(f'{name}.b', bias)], name)
    raise ValueError(f'unknown way to multiply: {way}; known are blocks, dynamic, float')


def build(tensors: dict[str, np.ndarray], shape: Shape, lanes: int, way: str = 'blocks') -> onnx.ModelProto:
    """The graph of an encoder. `tensors` are named as in `e5pack`, with `head.w` (lanes, hidden * 2) and `head.b`."""
    g = Graph()
    table, scales = quantise_table(tensors['emb.word'])
    # INT4, for the operator takes 0 for the zero of either kind.
    words = helper.make_tensor(
        'emb.q', TensorProto.INT4, [table.shape[0], table.shape[1] * 2], table.tobytes(), raw=True
    )
    g.constants.append(words)
    g.constant('emb.s', scales)
    half = g.add(
        'GatherBlockQuantized',
        ['emb.q', 'input_ids', 'emb.s'],
        'half',
        MS,
        gather_axis=0,
        quantize_axis=1,
        block_size=BLOCK,
    )
    word = g.add('Cast', [half], 'word', to=TensorProto.FLOAT)
    tokens = g.add('Shape', ['input_ids'], 'tokens', start=1, end=2)
    x = _embedded(g, word, tokens, tensors, shape)
    shared = shape.layers - (shape.own if shape.branches else 0)
    for i in range(shared):
        x = _layer(g, x, _of_layer(tensors, f'l{i}'), f'l{i}', shape, way)
    _branched(g, x, shape.branches, 'scores', lanes, tensors, shape, way)
    graph = helper.make_graph(
        g.nodes,
        'encoder',
        [helper.make_tensor_value_info('input_ids', TensorProto.INT64, [1, 'tokens'])],
        [
            helper.make_tensor_value_info('scores', TensorProto.FLOAT, [1, lanes]),
            helper.make_tensor_value_info('word', TensorProto.FLOAT, [1, 'tokens', shape.hidden]),
        ],
        g.constants,
    )
    return _model(graph)


def build_names(tensors: dict[str, np.ndarray], marks: np.ndarray, shape: Shape, way: str = 'dynamic') -> onnx.ModelProto:
    """The graph of the reader of names: `word` (1, tokens, hidden) in, with the encoder's marks; `names` (1, pieces, tags) out.

    :param tensors: as for `build`, with `names.w` (tags, hidden) and `names.b`
    :param marks: embeddings of its own start and end, (2, hidden)
    """
    g = Graph()
    ends = [g.constant(name, np.array([place], np.int64)) for name, place in (('pieces.from', 2), ('pieces.to', -1))]
    axis = g.constant('pieces.axis', np.array([1], np.int64))
    pieces = g.add('Slice', ['word', *ends, axis], 'pieces')
    start, end = (g.constant(name, mark[None, None]) for name, mark in zip(('start', 'end'), marks, strict=True))
    word = g.add('Concat', [start, pieces, end], 'framed', axis=1)
    tokens = g.add('Shape', [word], 'tokens', start=1, end=2)
    x = _embedded(g, word, tokens, tensors, shape)
    for i in range(shape.layers):
        x = _layer(g, x, _of_layer(tensors, f'l{i}'), f'l{i}', shape, way)
    tags = multiply(g, x, tensors['names.w'], tensors['names.b'], 'tags', 'float')
    inner = [g.constant(name, np.array([place], np.int64)) for name, place in (('inner.from', 1), ('inner.to', -1))]
    g.add('Slice', [tags, *inner, axis], 'names')
    graph = helper.make_graph(
        g.nodes,
        'names',
        [helper.make_tensor_value_info('word', TensorProto.FLOAT, [1, 'tokens', shape.hidden])],
        [helper.make_tensor_value_info('names', TensorProto.FLOAT, [1, 'pieces', len(tensors['names.b'])])],
        g.constants,
    )
    return _model(graph)


def with_words(model: onnx.ModelProto, hidden: int) -> onnx.ModelProto:
    """An encoder that was exported before there was a reader of names, with the output that this one needs."""
    if all(output.name != 'word' for output in model.graph.output):
        model.graph.output.append(helper.make_tensor_value_info('word', TensorProto.FLOAT, [1, 'tokens', hidden]))
    return model


def with_need(model: onnx.ModelProto, head: dict[str, np.ndarray], layers: int) -> onnx.ModelProto:
    """An encoder with one score more, its last: whether a user is in need (`need.Head`). A head that is there is replaced.

    :param head: as `need.Head.arrays` gives it
    :param layers: how many of everybody's layers the head stands on
    """
    graph = model.graph
    if any(constant.name in head for each in _graphs(graph) for constant in each.initializer):
        for each in _graphs(graph):
            for constant in each.initializer:
                if constant.name in head:
                    constant.CopyFrom(numpy_helper.from_array(head[constant.name], constant.name))
    else:
        _widen(graph, 'scores', head, f'l{layers - 1}.oln')
    return model


def _graphs(graph: onnx.GraphProto) -> list[onnx.GraphProto]:
    """A graph and those within it."""
    inner = [attribute.g for node in graph.node for attribute in node.attribute if attribute.type == onnx.AttributeProto.GRAPH]
    return [graph, *(found for each in inner for found in _graphs(each))]


def _widen(graph: onnx.GraphProto, scores: str, head: dict[str, np.ndarray], states: str) -> None:
    """Adds the score of need to what a graph scores, in each of its branches: a constant where nobody's need is read."""
    for output in graph.output:
        if output.name == scores:
            output.type.tensor_type.shape.dim[1].dim_value += 1
    (last,) = [node for node in graph.node if scores in node.output]
    if last.op_type == 'If':
        for branch in last.attribute:
            _widen(branch.g, branch.g.output[0].name, head, states)
        return
    last.output[0] = last.name = f'{scores}.lanes'
    g = Graph()
    if any(states in node.output for node in graph.node):
        look = g.add('MatMul', [states, g.constant('need.look.w', head['need.look.w'])], 'need.looked')
        look = g.add('Add', [look, g.constant('need.look.b', head['need.look.b'])], 'need.look')
        near = g.add('Softmax', [look], 'need.near', axis=1)
        near = g.add('Transpose', [near], 'need.queries', perm=[0, 2, 1])
        found = g.add('Flatten', [g.add('MatMul', [near, states], 'need.found')], 'need.flat', axis=1)
        first = g.add('Gather', [states, g.constant('need.first', np.array(0, np.int64))], 'need.opening', axis=1)
        read = g.add('Concat', [first, found], 'need.read', axis=1)
        need = g.add('Gemm', [read, g.constant('need.out.w', head['need.out.w']), g.constant('need.out.b', head['need.out.b'])], 'need')
    else:
        need = g.constant(f'{scores}.no_need', np.array([[NOT_READ]], np.float32))
    g.add('Concat', [last.output[0], need], scores, axis=1)
    graph.node.extend(g.nodes)
    graph.initializer.extend(g.constants)


def _model(graph: onnx.GraphProto) -> onnx.ModelProto:
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 21), helper.make_opsetid(MS, 1)])
    model.ir_version = 10
    return model


def _branched(
    g: Graph,
    x: str,
    branches: tuple[str, ...],
    out: str,
    lanes: int,
    tensors: dict[str, np.ndarray],
    shape: Shape,
    way: str,
) -> None:
    """The last layers and what is read off them: one way for each branch, tried in turn, the last for everybody's words."""
    last = range(shape.layers - (shape.own if shape.branches else 0), shape.layers)
    if not branches:
        _scored(g, x, last, '', out, tensors, shape, way)
        return
    name, *others = branches
    own, rest = Graph(), Graph()
    _scored(own, x, last, f'{name}.', f'{name}.scores', tensors, shape, way)
    _branched(rest, x, tuple(others), f'not.{name}.scores', lanes, tensors, shape, way)
    ways = {
        key: helper.make_graph(
            part.nodes,
            scores,
            [],
            [helper.make_tensor_value_info(scores, TensorProto.FLOAT, [1, lanes])],
            part.constants,
        )
        for key, part, scores in (('then_branch', own, f'{name}.scores'), ('else_branch', rest, f'not.{name}.scores'))
    }
    g.add('If', [_taken(g, name)], out, **ways)


def _taken(g: Graph, branch: str) -> str:
    """Whether the window is for a branch: one flag. `model._takes` says the same in torch."""
    one = g.constant(f'{branch}.one', np.array([1], np.int64))
    if branch == 'tools':
        found = g.add('Gather', ['input_ids', one], 'tools.speaker', axis=1)
        mark = g.constant('tools.mark', np.array([[ROLE_ID['tool']]], np.int64))
        return g.add('Reshape', [g.add('Equal', [found, mark], 'tools.same'), one], 'tools.taken')
    ends = [g.constant(f'{branch}.{name}', np.array([at], np.int64)) for name, at in (('from', 2), ('to', 2**31 - 1))]
    behind = g.add('Slice', ['input_ids', *ends, one], f'{branch}.behind')
    mark = g.constant(f'{branch}.mark', np.array([[ROLE_ID['system']]], np.int64))
    same = g.add('Equal', [behind, mark], f'{branch}.same')
    count = g.add('Cast', [same], f'{branch}.count', to=TensorProto.INT32)
    most = g.add('ReduceMax', [count, one], f'{branch}.most', keepdims=0)
    return g.add('Cast', [most], f'{branch}.taken', to=TensorProto.BOOL)


def _scored(
    g: Graph, x: str, layers: range, own: str, out: str, tensors: dict[str, np.ndarray], shape: Shape, way: str
) -> None:
    for i in layers:
        x = _layer(g, x, _of_layer(tensors, f'{own}l{i}'), f'{own}l{i}', shape, way)
    first = g.add('Gather', [x, g.constant(f'{own}first', np.array(0, np.int64))], f'{own}opening', axis=1)
    mean = g.add('ReduceMean', [x, g.constant(f'{own}axis', np.array([1], np.int64))], f'{own}mean', keepdims=0)
    both = g.add('Concat', [first, mean], f'{own}both', axis=1)
    g.constant(f'{own}head.w', tensors[f'{own}head.w'].T)
    g.constant(f'{own}head.b', tensors[f'{own}head.b'])
    g.add('Gemm', [both, f'{own}head.w', f'{own}head.b'], out)


def _of_layer(tensors: dict[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    return {key[len(name) + 1 :]: value for key, value in tensors.items() if key.startswith(f'{name}.')}


def _embedded(g: Graph, word: str, tokens: str, tensors: dict[str, np.ndarray], shape: Shape) -> str:
    """Embeddings with their places, normed."""
    zero = g.constant('zero', np.array([0], np.int64))
    g.constant('positions', tensors['emb.pos'] + tensors['emb.type'][0])
    position = g.add('Slice', ['positions', zero, tokens, zero], 'position')
    placed = g.add('Add', [word, position], 'placed')
    return g.add(
        'LayerNormalization',
        [placed, g.constant('emb.ln.w', tensors['emb.ln.w']), g.constant('emb.ln.b', tensors['emb.ln.b'])],
        'embedded',
        axis=-1,
        epsilon=shape.epsilon,
    )


def _layer(g: Graph, x: str, t: dict[str, np.ndarray], name: str, shape: Shape, way: str) -> str:
    # One multiplication for all three: the activations are quantised once.
    weight = np.concatenate([t[f'{p}.w'] for p in 'qkv'])
    packed = multiply(g, x, weight, np.concatenate([t[f'{p}.b'] for p in 'qkv']), f'{name}.qkv', way)
    parts = [f'{name}.{p}' for p in 'qkv']
    g.nodes.append(helper.make_node('Split', [packed], parts, name=f'{name}.split', axis=-1, num_outputs=3))
    heard = g.add('MultiHeadAttention', parts, f'{name}.attention', MS, num_heads=shape.heads)
    told = multiply(g, heard, t['ao.w'], t['ao.b'], f'{name}.ao', way)
    x = _joined(g, x, told, t, 'aln', f'{name}.aln', shape)
    risen = multiply(g, x, t['fi.w'], t['fi.b'], f'{name}.fi', way)
    active = g.add('Gelu', [risen], f'{name}.gelu', MS)
    fallen = multiply(g, active, t['fo.w'], t['fo.b'], f'{name}.fo', way)
    return _joined(g, x, fallen, t, 'oln', f'{name}.oln', shape)


def _joined(g: Graph, x: str, y: str, t: dict[str, np.ndarray], key: str, name: str, shape: Shape) -> str:
    # Not SkipLayerNormalization, nor an optimiser that fuses into it: on CPUs it takes five times as long as these two.
    scale, offset = g.constant(f'{name}.w', t[f'{key}.w']), g.constant(f'{name}.b', t[f'{key}.b'])
    total = g.add('Add', [x, y], f'{name}.sum')
    return g.add('LayerNormalization', [total, scale, offset], name, axis=-1, epsilon=shape.epsilon)
