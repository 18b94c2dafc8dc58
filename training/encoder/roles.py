"""Who speaks: the role that the encoder is told, in training.

Few corpora say it. Where a role would come with one label only, the encoder would learn the role instead of the text;
so harmless documents are told as spoken by everyone who may say such things, anew in every epoch.
"""

from __future__ import annotations

import numpy as np

from .rows import ROLES, Row

# How often a harmless row of a kind is told as by user, assistant, tool, system.
SHARES: dict[str, tuple[float, float, float, float]] = {
    'document': (0.55, 0.12, 0.28, 0.05),
    'conversation': (0.7, 0.1, 0.2, 0.0),
    'comment': (0.8, 0.1, 0.1, 0.0),
    'prompt': (0.94, 0.02, 0.02, 0.02),
}
BY_SOURCE: dict[str, tuple[float, float, float, float]] = {'benign_system_prompts': (0.4, 0.0, 0.1, 0.5)}


def told(row: Row, random: np.random.Generator) -> str:
    """The role that is told in one epoch."""
    if not row.benign or row.role != 'user':
        return row.role
    shares = BY_SOURCE.get(row.source, SHARES[row.kind])
    return ROLES[int(random.choice(len(ROLES), p=shares))]
