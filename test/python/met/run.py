"""Runs the packages named on the command line, one after the other, in front of a gateway that stands in PLACE."""

import importlib
import json
import os
import sys
import traceback
import warnings

import home  # noqa: F401: before any package
from cells import fill, tell
from page import Page

# What packages say of one another's versions is theirs.
warnings.simplefilter("ignore")


def main() -> None:
    place = json.loads(os.environ["PLACE"])
    for name in sys.argv[1:]:
        try:
            package = importlib.import_module(f"packages.{name}")
            for respond, base in place["bases"].items():
                page = Page(getattr(package, "PAGE", "python.md"), base, place["key"])
                snippet = getattr(package, "SNIPPET", package.PACKAGE)
                code_of = page.run(snippet)["code_of"] if snippet else lambda _error: None
                fill(package.PACKAGE, package.ways(page), place, respond, code_of)
            tell({"package": package.PACKAGE, "done": True})
        except Exception:  # noqa: BLE001: the next package is looked at all the same
            tell({"package": name, "failed": traceback.format_exc()})


main()
