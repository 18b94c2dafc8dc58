"""The snippets of a page of the documentation, run as they stand there: only address and key are the test's."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


class Page:
    def __init__(self, name: str, url: str, key: str) -> None:
        self.text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        self.url = url
        self.key = key

    def run(self, package: str) -> dict[str, Any]:
        """:returns: the names that the page's snippets for a package define"""
        blocks = re.findall(rf"^```python {re.escape(package)}\n(.*?)^```$", self.text, re.MULTILINE | re.DOTALL)
        if not blocks:
            raise LookupError(f"no snippet for {package}")
        names: dict[str, Any] = {"__name__": package}
        source = re.sub(r"http://127\.0\.0\.1:(8080|4000)", self.url, "\n".join(blocks))
        source = re.sub(r"(slg_live_|sk-)…", self.key, source)
        exec(compile(source, f"docs, {package}", "exec"), names)  # noqa: S102: the snippet is what is tested
        return names
