"""The step `names`: writes the sentences, fits the reader of names, and says how well it finds what was held back."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import numpy as np
import onnx
import torch
from tokenizers import Tokenizer

from . import export
from .base import base_file, new_encoder
from .e5pack import read_pack
from .model import Settings
from .name_lists import PACKAGES
from .name_model import LAYERS, NameReader, fit, save_reader, tagged
from .name_rows import TAGS, NameRow, write_rows

# The rows that are measured with, for `check-names.mjs`.
HELD_FILE = 'names-held.jsonl'


def names(work: Path, rows: int, minutes: float, seed: int) -> dict[str, object]:
    """Leaves `names.pt`, `names.json` and the rows to measure with in the work folder."""
    encoder, _ = new_encoder(work, Settings())
    tokenizer = Tokenizer.from_file(str(work / 'tokenizer.json'))
    torch.manual_seed(seed)
    reader = NameReader(encoder.words.detach().numpy(), encoder.special.detach().numpy())
    write_held(work / HELD_FILE, write_rows(2600, True, seed))
    learnt = tagged(write_rows(rows, False, seed), tokenizer)
    file = work / 'names.pt'
    told = fit(reader, learnt, minutes, seed, save=lambda: save_reader(reader, file))
    save_reader(reader, file)
    report = {
        'rows': len(learnt),
        **told,
        'seed': seed,
        'lists': {name: metadata.version(name) for name in PACKAGES},
    }
    (work / 'names.json').write_text(json.dumps(report, indent=1) + '\n')
    return report


def write_held(file: Path, rows: list[NameRow]) -> None:
    """Texts with the places of their names, in UTF-16 units, as the program tells places."""

    def units(text: str) -> int:
        return len(text.encode('utf-16-le')) // 2

    with file.open('w') as out:
        for row in rows:
            labels = [[units(row.text[: n.start]), units(row.text[: n.end]), n.kind] for n in row.labels]
            told = {'text': row.text, 'role': row.role, 'language': row.language, 'names': labels}
            out.write(json.dumps(told, ensure_ascii=False) + '\n')


def build(file: Path, way: str) -> onnx.ModelProto:
    """The graph of what was fitted."""
    saved = torch.load(file, weights_only=False)
    if saved['layers'] != LAYERS or saved['tags'] != TAGS:
        raise ValueError(f'{file} was fitted with other layers or tags than this version exports')
    pack = read_pack(base_file())
    model = saved['model']
    special = model['encoder.special'].numpy()
    reader = NameReader(np.zeros((1, pack.hidden), np.float32), special)
    own = reader.state_dict()
    own.update(model)
    reader.load_state_dict(own)
    tensors = reader.encoder.named_arrays()
    tensors['names.w'], tensors['names.b'] = (p.detach().numpy() for p in (reader.head.weight, reader.head.bias))
    shape = export.Shape(pack.hidden, len(LAYERS), pack.heads, pack.inner, pack.positions, pack.epsilon)
    # The pieces that stand before and after: the encoder's own would tell who speaks.
    return export.build_names(tensors, special[[0, 2]], shape, way)
