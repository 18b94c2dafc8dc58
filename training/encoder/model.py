"""The encoder in torch: BERT as multilingual-e5-small has it, with some of its layers, and one output a lane."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .e5pack import Pack
from .lanes import LANES
from .vocabulary import PAD, ROLE_ID


def half() -> torch.autocast:
    """Bf16 where the processor multiplies in it (AVX-512 BF16, AMX): elsewhere it takes a hundred times as long."""
    return torch.autocast('cpu', torch.bfloat16, enabled=torch.ops.mkldnn._is_mkldnn_bf16_supported())


# Windows that may have layers of their own, in the order in which a window is looked at: texts beside what an operator's
# prompt keeps, and what tools bring.
BRANCHES = ('guards', 'tools')


@dataclass(frozen=True)
class Settings:
    """Which of the base's layers are kept, and whether the embeddings of its pieces are trained.

    `branches`: whose windows the last `own` layers are there for once more, of `BRANCHES`.
    """

    layers: tuple[int, ...] = (0, 2, 4, 6, 8, 10)
    frozen: bool = True
    dropout: float = 0.1
    own: int = 4
    branches: tuple[str, ...] = ()


class Layer(nn.Module):
    """Attention and what follows it, each with its sum and norm."""

    def __init__(self, hidden: int, heads: int, inner: int, epsilon: float, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv = nn.Linear(hidden, hidden * 3)
        self.ao = nn.Linear(hidden, hidden)
        self.aln = nn.LayerNorm(hidden, epsilon)
        self.fi = nn.Linear(hidden, inner)
        self.fo = nn.Linear(inner, hidden)
        self.oln = nn.LayerNorm(hidden, epsilon)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """`x`: (rows, pieces, hidden); `mask`: 0 where a piece may be heard, far below 0 where not."""
        rows, length, hidden = x.shape
        q, k, v = self.qkv(x).view(rows, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).contiguous()
        if x.is_cuda:
            heard = F.scaled_dot_product_attention(q, k, v, mask.expand(rows, self.heads, length, length))
        else:
            # Written out: on CPUs the fused attention of torch 2.13 takes four times as long, most of it going backward.
            near = torch.matmul(q * q.shape[-1] ** -0.5, k.transpose(-1, -2)) + mask
            heard = torch.matmul(torch.softmax(near, -1).to(v.dtype), v)
        told = self.ao(heard.transpose(1, 2).reshape(rows, length, hidden))
        x = self.aln(x + self._thinned(told))
        risen = self.fo(F.gelu(self.fi(x)))
        return self.oln(x + self._thinned(risen))

    def _thinned(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training) if self.dropout > 0 else x


class Branch(nn.Module):
    """The last layers once more, with a head of their own, for one kind of window.

    An order to an agent and a request of a user are the same words. Who says them decides, and one mark among a hundred
    pieces did not carry that far: layers that read nothing but tools need not be told. Whether a text goes for what a
    prompt keeps is another question than whether it is harmful, and learning the one moved what was said of the other.
    """

    def __init__(self, layers: nn.ModuleList, head: nn.Linear) -> None:
        super().__init__()
        self.layers = copy.deepcopy(layers)
        self.head = copy.deepcopy(head)


class Encoder(nn.Module):
    """Pieces in, one logit a lane out.

    The embeddings of special pieces (numbers below `special`) are always trained.
    """

    def __init__(self, pack: Pack, words: np.ndarray, special: np.ndarray, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self.special = nn.Parameter(torch.from_numpy(special.copy()))
        self.words = nn.Parameter(torch.from_numpy(words.copy()), requires_grad=not settings.frozen)
        self.places = nn.Parameter(torch.from_numpy(pack.tensors['emb.pos'] + pack.tensors['emb.type'][0]))
        self.norm = nn.LayerNorm(pack.hidden, pack.epsilon)
        self.layers = nn.ModuleList(
            Layer(pack.hidden, pack.heads, pack.inner, pack.epsilon, settings.dropout) for _ in settings.layers
        )
        self.head = nn.Linear(pack.hidden * 2, len(LANES))
        self._read(pack)
        self.branches = nn.ModuleDict({name: self.branch() for name in BRANCHES if name in settings.branches})

    def _read(self, pack: Pack) -> None:
        def fill(module: nn.Module, weight: np.ndarray, bias: np.ndarray) -> None:
            with torch.no_grad():
                module.weight.copy_(torch.from_numpy(weight))
                module.bias.copy_(torch.from_numpy(bias))

        t = pack.tensors
        fill(self.norm, t['emb.ln.w'], t['emb.ln.b'])
        for layer, i in zip(self.layers, self.settings.layers, strict=True):
            parts = [f'l{i}.{p}' for p in 'qkv']
            fill(layer.qkv, np.concatenate([t[f'{p}.w'] for p in parts]), np.concatenate([t[f'{p}.b'] for p in parts]))
            for name in ('ao', 'aln', 'fi', 'fo', 'oln'):
                fill(getattr(layer, name), t[f'l{i}.{name}.w'], t[f'l{i}.{name}.b'])
        nn.init.normal_(self.head.weight, std=0.02)
        # Most lanes are silent in most rows.
        nn.init.constant_(self.head.bias, -2.0)

    @property
    def shared(self) -> int:
        """How many layers read everybody's words."""
        return len(self.layers) - (self.settings.own if self.settings.branches else 0)

    def branch(self) -> Branch:
        """A branch that scores as everybody's words are scored, until it learns more."""
        return Branch(self.layers[self.shared :], self.head)

    def forward(self, ids: Tensor) -> Tensor:
        """:param ids: (rows, pieces), padded with `PAD`. :returns: (rows, lanes) logits"""
        x = self.states(ids, self.shared)[-1]
        left = torch.ones(len(ids), dtype=torch.bool)
        scores = torch.zeros(len(ids), len(LANES))
        for name, part in self.branches.items():
            which = left & _takes(name, ids)
            left &= ~which
            if which.any():
                scores[which] = self._scores(x[which], ids[which], part.layers, part.head)
        if left.all():
            return self._scores(x, ids, self.layers[self.shared :], self.head)
        if left.any():
            scores[left] = self._scores(x[left], ids[left], self.layers[self.shared :], self.head)
        return scores

    def route(self, ids: Tensor, branch: str = '') -> Tensor:
        """As `forward`, where all windows go one way: through a branch, or through everybody's layers."""
        x = self.states(ids, self.shared)[-1]
        part = self.branches[branch] if branch else None
        return self._scores(x, ids, part.layers, part.head) if part else self._scores(x, ids, self.layers[self.shared :], self.head)

    def beside(self, ids: Tensor, before: Branch) -> tuple[Tensor, Tensor]:
        """What everybody's words score, and what the last layers made of them as they were: (rows, lanes) logits each."""
        with torch.no_grad():
            x = self.states(ids, self.shared)[-1]
            was = self._scores(x, ids, before.layers, before.head)
        return self._scores(x, ids, self.layers[self.shared :], self.head), was

    def states(self, ids: Tensor, count: int | None = None) -> list[Tensor]:
        """What each piece is taken for: as embedded, then after each of `count` layers; (rows, pieces, hidden) each."""
        states = [self.norm(self._embed(ids) + self.places[: ids.shape[1]])]
        mask = _mask(ids)
        for layer in self.layers[:count]:
            states.append(layer(states[-1], mask))
        return states

    def _scores(self, x: Tensor, ids: Tensor, layers: nn.ModuleList, head: nn.Linear) -> Tensor:
        mask = _mask(ids)
        for layer in layers:
            x = layer(x, mask)
        here = ids != PAD
        x = x.float()
        mean = (x * here[:, :, None]).sum(1) / here.sum(1, keepdim=True)
        # In bf16 where that is on (`half`); scores are kept in full.
        return F.linear(torch.cat([x[:, 0], mean], 1), head.weight.float(), head.bias.float()).float()

    def _embed(self, ids: Tensor) -> Tensor:
        count = self.special.shape[0]
        words = F.embedding((ids - count).clamp(min=0), self.words)
        special = F.embedding(ids.clamp(max=count - 1), self.special)
        return torch.where((ids < count)[:, :, None], special, words)

    def named_arrays(self) -> dict[str, np.ndarray]:
        """The weights under the names that `export.build` reads."""

        def array(tensor: Tensor) -> np.ndarray:
            return tensor.detach().float().numpy()

        t = {
            'emb.word': np.concatenate([array(self.special), array(self.words)]),
            'emb.pos': array(self.places),
            'emb.type': np.zeros((1, self.places.shape[1]), np.float32),
            'emb.ln.w': array(self.norm.weight),
            'emb.ln.b': array(self.norm.bias),
        }
        named = [(f'l{i}', layer) for i, layer in enumerate(self.layers)]
        heads = [('head', self.head)]
        for name, part in self.branches.items():
            named += [(f'{name}.l{i}', layer) for i, layer in enumerate(part.layers, self.shared)]
            heads.append((f'{name}.head', part.head))
        for name, head in heads:
            t[f'{name}.w'], t[f'{name}.b'] = array(head.weight), array(head.bias)
        for name, layer in named:
            for part, weight, bias in zip(
                'qkv',
                array(layer.qkv.weight).reshape(3, -1, self.places.shape[1]),
                array(layer.qkv.bias).reshape(3, -1),
                strict=True,
            ):
                t[f'{name}.{part}.w'], t[f'{name}.{part}.b'] = weight, bias
            for part in ('ao', 'aln', 'fi', 'fo', 'oln'):
                module = getattr(layer, part)
                t[f'{name}.{part}.w'], t[f'{name}.{part}.b'] = array(module.weight), array(module.bias)
        return t


def _takes(branch: str, ids: Tensor) -> Tensor:
    """Which windows are for a branch: (rows,) of bool. `export._taken` says the same in the file that ships."""
    if branch == 'tools':
        return ids[:, 1] == ROLE_ID['tool']
    # A guard stands behind the mark of who sets it, which no text holds.
    return (ids[:, 2:] == ROLE_ID['system']).any(1)


def _mask(ids: Tensor) -> Tensor:
    """0 where a piece may be heard, far below 0 where not; (rows, 1, 1, pieces)."""
    kind = torch.bfloat16 if torch.is_autocast_enabled(ids.device.type) else torch.float32
    return torch.where(ids != PAD, 0.0, -1e4)[:, None, None, :].to(kind)
