"""A text as the encoder reads it: without characters that nobody sees, and with runs of words in capitals in small letters.

The same as `src/encoder/legible.ts`, which gives the reasons.
"""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = re.compile('[\u00ad\u034f\u061c\u180e\u202a-\u202e\u2060-\u2064\u2066-\u206f]+')
_SELECTORS = re.compile('[\ufe00-\ufe0f\U000e0100-\U000e01ef]+')
# Letters, marks, digits and apostrophes. What `\\w` has besides them, the underscore, ends a word.
_WORD = re.compile(r"(?:[^\W_]|['’\u0300-\u036f])+")
_FEWEST = 4


def legible(text: str) -> str:
    """:returns: what is cut into pieces"""
    return _without_shouting(_SELECTORS.sub(_kept, _UNSEEN.sub('', text)))


def _kept(found: re.Match[str]) -> str:
    """Selectors stay where they choose how an emoji looks."""
    before = found.string[found.start() - 1 : found.start()]
    return '' if before != '' and unicodedata.category(before)[0] == 'L' else found.group()


def _without_shouting(text: str) -> str:
    told: list[str] = []
    at, start, end, words = 0, -1, 0, 0
    for found in [*_WORD.finditer(text), None]:
        kinds = [unicodedata.category(letter) for letter in found.group()] if found is not None else ['Ll']
        if any(kind in ('Ll', 'Lo', 'Lt') for kind in kinds):
            if words >= _FEWEST:
                told += [text[at : start + 1], _lowered(text[start + 1 : end])]
                at = end
            start, words = -1, 0
            continue
        capitals = kinds.count('Lu')
        if capitals == 0 or found is None:
            continue
        if start == -1:
            start = found.start()
        words += capitals > 1
        end = found.end()
    return ''.join([*told, text[at:]])


def _lowered(text: str) -> str:
    return ''.join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
