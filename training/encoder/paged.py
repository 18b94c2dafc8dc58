"""Long texts in pages, each about as long as the encoder reads at once."""

from __future__ import annotations

# Characters of a page.
PAGE = 700
# Where a page may end, the best place first.
ENDS = ('\n\n', '\n', '. ', '! ', '? ', '。', ' ')


def paged(text: str) -> list[str]:
    """All pages of a text, in order; a short text is one, as it is."""
    if len(text) <= PAGE * 4 // 3:
        return [text]
    found: list[str] = []
    start = 0
    while start < len(text):
        end = min(len(text), start + PAGE)
        if end < len(text):
            # No page but the last is shorter than half of one.
            places = ((text.rfind(mark, start + PAGE // 2, end), len(mark)) for mark in ENDS)
            end = next((at + length for at, length in places if at >= 0), end)
        page = text[start:end].strip()
        if page:
            found.append(page)
        start = end
    return found
