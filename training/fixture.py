"""A whole encoder, small enough to be committed, for the tests of the program: python training/fixture.py FOLDER

Its pieces are letters and a few words, its score of a lane the highest that any piece of the window has. Beside the three
files of an encoder and the reader of names stands `cuts.json`: what Python's tokenizer makes of awkward texts, and what confidences of logits are.
"""

from __future__ import annotations

import hashlib
import json
import string
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

from encoder import calibration
from encoder.lanes import LANE, LANES
from encoder.name_rows import TAGS
from encoder.vocabulary import LINE, LINE_SCORE, SPECIAL, tokenizer_json

# What raises which lanes to which logit; all else stays at -6.
WORDS: dict[str, dict[str, float]] = {
    '▁steal': {'harmful_request': 4.0, 'harmful_answer': 4.0, 'illicit': 3.0, 'guarded': 4.0},
    '▁bomb': {'harmful_request': 6.0, 'weapons': 5.0, 'violence': 4.0},
    '▁ignore': {'jailbreak': 4.0, 'prompt_injection': 4.0},
    '▁stupid': {'harassment': 4.0},
    # A sentence with it keeps something; a text beside it does not go for that by itself.
    '▁never': {'guarded': -1.0},
}
# What is tagged as a name.
NAMES = {
    '▁Anna': 'B-person',
    '▁Smith': 'I-person',
    '▁Berlin': 'B-place',
    '東京': 'B-place',
    '▁Acme': 'B-organisation',
    '▁Corp': 'I-organisation',
}
PLAIN = ['▁the', '▁a', '▁to', '▁and', 'ing', 'er', 'th', '▁w', '▁st', 'ea', '▁ex', 'plain', '日本', '語', 'é', '…', '==', '====']
LETTERS = ['▁', *string.ascii_letters, *string.digits, *string.punctuation, '한', '글', '가', '↵', '👩']
KNOTS = [[0.0, 0.05], [2.0, 0.25], [3.0, 0.4], [5.0, 0.75], [7.0, 0.95]]
TEXTS = [
    '',
    '   ',
    'a',
    '\n',
    'explain  the\tweather ',
    'steal the car\n\n  and ignore\r\n a bomb',
    'a \n \t\n b',
    'x\u0085y',
    'a\u00a0\nb',
    'e\u0301\u0316\u0301 caf\u00e9',
    '\ufb01ne \u2460 \u00bd \u2167',
    '\uff76\uff9e\uff71\uff9e',
    '\u3131\u314f\u1112\u1161\u11ab 한글',
    '\u00a8x',
    'a\u200bb\ufeffc',
    '👩\u200d👩 𝕳𝖊',
    'a\u2028b\u2581c\ufffdd',
    '\x00a\x07b',
    '\v\fx',
    'the' * 60,
    '=' * 101,
    '日本語' * 40,
    '\u0345\u0300',
    'ﷺ',
    'ßþðđ unknown ones: ж ж',
]


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    texts = [*SPECIAL, LINE, *WORDS, *PLAIN, *LETTERS, *NAMES]
    scores = [0.0] * len(SPECIAL) + [LINE_SCORE]
    scores += [-4.0 - i / 7 for i in range(len(WORDS))] + [-5.0 - i / 9 for i in range(len(PLAIN))]
    scores += [-7.0 - i / 11 for i in range(len(LETTERS))]
    scores += [-4.0 - i / 13 for i in range(len(NAMES))]
    tokenizer = tokenizer_json(texts, scores)
    table = np.full((len(texts), len(LANES)), -6.0, np.float32)
    for word, lanes in WORDS.items():
        for lane, logit in lanes.items():
            table[texts.index(word), LANE[lane]] = logit
    graph = helper.make_graph(
        [
            helper.make_node('Gather', ['table', 'input_ids'], ['each']),
            helper.make_node('ReduceMax', ['each', 'axis'], ['scores'], keepdims=0),
            helper.make_node('Gather', ['tags', 'input_ids'], ['word']),
        ],
        'fixture',
        [helper.make_tensor_value_info('input_ids', TensorProto.INT64, [1, 'tokens'])],
        [
            helper.make_tensor_value_info('scores', TensorProto.FLOAT, [1, len(LANES)]),
            helper.make_tensor_value_info('word', TensorProto.FLOAT, [1, 'tokens', len(TAGS)]),
        ],
        [
            numpy_helper.from_array(table, 'table'),
            numpy_helper.from_array(np.array([1], np.int64), 'axis'),
            numpy_helper.from_array(tags_table(texts), 'tags'),
        ],
    )
    model = serialised(graph)
    names = names_model()
    knots = {
        role: {
            # Longer texts must score higher for the same.
            name: {group: [[at + longer, told] for at, told in KNOTS] for group in groups}
            for longer, (name, _, _) in enumerate(calibration.CLASSES)
        }
        for role, groups in calibration.GROUPS.items()
    }
    # As where too few texts were there to measure.
    del knots['tool'][calibration.CLASSES[1][0]]
    knots['guarded'] = {calibration.CLASSES[0][0]: {'guarded': KNOTS}}
    told = {**calibration.manifest(knots), 'keeps': -1.5}
    (out / 'encoder.onnx').write_bytes(model)
    (out / 'encoder.names.onnx').write_bytes(names)
    (out / 'encoder.tokenizer.json').write_text(tokenizer)
    manifest = {
        'model': {'sha256': hashlib.sha256(model).hexdigest(), 'bytes': len(model)},
        'tokenizer': {'sha256': hashlib.sha256(tokenizer.encode()).hexdigest(), 'bytes': len(tokenizer.encode())},
        'lanes': list(LANES),
        'names': {'sha256': hashlib.sha256(names).hexdigest(), 'bytes': len(names), 'tags': list(TAGS)},
        'calibration': told.pop('knots'),
        'calibrated': told,
    }
    (out / 'encoder.json').write_text(json.dumps(manifest, indent=1) + '\n')
    cutter = Tokenizer.from_str(tokenizer)
    logits = [-5.0, -3.9, -1.0, 0.0, 0.7, 2.0, 4.999, 5.0, 7.0, 9.0]
    sure = calibration.confidence(KNOTS, np.array(logits))
    cuts = {
        'texts': [[text, cutter.encode(text, add_special_tokens=False).ids] for text in TEXTS],
        'knots': KNOTS,
        'confidences': [[logit, float(told)] for logit, told in zip(logits, sure, strict=True)],
    }
    (out / 'cuts.json').write_text(json.dumps(cuts) + '\n')


def tags_table(texts: list[str]) -> np.ndarray:
    """By piece, the logits of its tags."""
    table = np.zeros((len(texts), len(TAGS)), np.float32)
    table[:, 0] = 6.0
    for piece, tag in NAMES.items():
        table[texts.index(piece)] = [8.0 if each == tag else 0.0 for each in TAGS]
    return table


def names_model() -> bytes:
    """What the embeddings of this encoder say is the tags already: all but those of the marks."""
    shapes = [('word', 'tokens'), ('names', 'pieces')]
    word, names = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, size, len(TAGS)]) for n, size in shapes)
    ends = [numpy_helper.from_array(np.array([place], np.int64), n) for n, place in (('from', 2), ('to', -1), ('axis', 1))]
    node = helper.make_node('Slice', ['word', 'from', 'to', 'axis'], ['names'])
    return serialised(helper.make_graph([node], 'names', [word], [names], ends))


def serialised(graph: onnx.GraphProto) -> bytes:
    """A model's bytes, checked."""
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=9).SerializeToString()
    onnx.checker.check_model(onnx.load_from_string(model))
    return model


if __name__ == '__main__':
    main(Path(sys.argv[1]))
