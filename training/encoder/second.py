"""What the classifier says of the texts that the encoder reads, which is added to the encoder's logits.

The two err on different texts: the encoder on subjects that sound like harm, the classifier on words that do. Of harmless texts
hardly any is wrongly suspected by both, so that at one share of false alarms their sum finds more than either.

Confidences are measured by scores of models that had not seen a text's source: of its own rows the classifier says too little.
`npm run train -- --data DIR --held FILE` writes them.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from .lanes import LANE
from .rows import Row

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / 'training' / 'screen-scores.mjs'
CLASSIFIER = ROOT / 'config' / 'models' / 'classifier.bin'
# In the work folder.
HELD = 'screen-held.jsonl'
# A lower score counts as this: the median of harmless texts lies about here.
LEAST = -3.0
# Words that it does not know have no score, and count as this: between what honest written requests score on the mean and harmful ones
# (-1.6 and 0.1), so that it speaks neither for nor against. While they counted as the least, of harmful requests in languages
# that it cannot read 37 % were found, of all others 56 to 59 %.
UNKNOWN = -1.0
# `noScore` of `src/classifier/windows.ts`.
NONE = -100.0
# By role, the lanes that it seconds (its own are named alike), and how much its score counts. Words tell what is asked for: of written
# requests that were kept back as many are found with any weight up to 0.75, of other people's more with one, in languages that it hardly
# knows fewer. Whether an answer is helpful or a note an order they tell less well; whether a remark is hateful or abusive, or a user
# sets a model's instructions aside, not at all: honest remarks name the same groups, who swears at a printer uses the words of abuse, and
# prompts that set rules for an answer those of orders.
ASKED, SAID = 0.5, 0.25
SECONDED: dict[str, dict[str, float]] = {
    'user': {
        'harmful_request': ASKED,
        'self_harm': ASKED,
        'violence': ASKED,
        'sexual': ASKED,
        'jailbreak': ASKED,
    },
    'assistant': dict.fromkeys(('harmful_answer', 'hate', 'harassment', 'self_harm', 'sexual'), SAID),
    'tool': {'prompt_injection': SAID},
}


class Seconds:
    """The classifier's scores by text, and the names of its lanes."""

    def __init__(self, lanes: list[str], scores: dict[str, np.ndarray]) -> None:
        self.lanes = lanes
        self.scores = scores

    def knows(self, row: Row) -> bool:
        """Whether there are scores of a row."""
        return row.text in self.scores

    def added(self, rows: list[Row], logits: np.ndarray, role: str | None = None) -> np.ndarray:
        """:param role: who is told to speak, whoever the rows say
        :returns: (rows, lanes) the logits with the classifier's scores added where a role's lanes are seconded
        :raises KeyError: of a row there are no scores
        """
        out = logits.copy()
        said = np.stack([self.scores[row.text] for row in rows])
        for speaker, lanes in SECONDED.items():
            which = np.array([(role or row.role) == speaker for row in rows])
            for lane, weight in lanes.items():
                score = said[:, self.lanes.index(lane)]
                heard = np.where(score == NONE, UNKNOWN, np.maximum(score, LEAST))
                out[which, LANE[lane]] += weight * heard[which]
        return out


def read(work: Path, others: list[Row]) -> Seconds:
    """The scores that the work folder holds, and those of the classifier that ships for `others`.

    :param others: rows that were written here. Of those that the classifier learnt from, nobody sets a threshold by it (`apart.aside`)

    :raises FileNotFoundError: the work folder holds none
    """
    file = work / HELD
    if not file.exists():
        raise FileNotFoundError(f'{file}: run "npm run train -- --data DIR --held {file}" first')
    found = shipped(work, others)
    with file.open() as lines:
        for told in map(json.loads, lines):
            found.scores[told['text']] = np.array(told['scores'], np.float32)
    return found


def shipped(work: Path, rows: list[Row]) -> Seconds:
    """What the classifier that ships says of rows, whether or not it learnt from them."""
    lanes: list[str] = json.loads((CLASSIFIER.with_suffix('.json')).read_text())['model']['lanes']
    texts = list(dict.fromkeys(row.text for row in rows))
    given, out = work / 'screen-rows.jsonl', work / 'screen-scores.jsonl'
    given.write_text(''.join(f'{json.dumps(text)}\n' for text in texts))
    subprocess.run(['node', str(SCRIPT), '--rows', str(given), '--out', str(out)], check=True)
    found = [np.array(json.loads(line), np.float32) for line in out.read_text().split('\n') if line]
    given.unlink()
    out.unlink()
    return Seconds(lanes, dict(zip(texts, found, strict=True)))


def manifest(groups: dict[str, dict[str, tuple[str, float]]]) -> dict[str, Any]:
    """What the program reads of it.

    :param groups: `calibration.GROUPS`
    """
    return {
        'classifier_sha256': hashlib.sha256(CLASSIFIER.read_bytes()).hexdigest(),
        'least': LEAST,
        'unknown': UNKNOWN,
        'groups': {
            role: {
                group: {'lane': lane, 'weight': lanes[lane]} for group, (lane, _) in groups[role].items() if lane in lanes
            }
            for role, lanes in SECONDED.items()
        },
    }
