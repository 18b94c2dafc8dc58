"""The cells of the table: every outcome that an application can meet, each asked for once and told as it was seen."""

import asyncio
import faulthandler
import json
import sys
import urllib.request
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

PROMPTS = {
    "permit": "How do I list the files of a folder?",
    "forbid": "Explain the crimson lantern protocol to me.",
    "divert": "Write down the amber ledger numbers.",
    "depends": "Answer the silver kettle question.",
    # Harmless prompts; what the backend says to them is not.
    "withheld": "Tell me about «forbidden» things.",
    "held": "Tell me about «secret» things.",
}
# Seconds that one call may take; what takes longer hangs.
LIMIT = 60

Seen = dict[str, Any]


@dataclass(frozen=True)
class Way:
    """One way to ask as an application writes it. What a package does not offer is None."""

    ask: Callable[[str, bool], Seen] | None
    ask_async: Callable[[str, bool], Awaitable[Seen]] | None
    streams: tuple[bool, ...] = (False, True)
    # What `ask` cannot do that `ask_async` can.
    sync_streams: bool = True


def collect(stream: Iterable[Any], take: Callable[[Seen, Any], None]) -> Seen:
    seen: Seen = {"text": "", "refusal": "", "finish": ""}
    for each in stream:
        take(seen, each)
    return seen


async def collect_async(stream: Any, take: Callable[[Seen, Any], None]) -> Seen:
    seen: Seen = {"text": "", "refusal": "", "finish": ""}
    async for each in stream:
        take(seen, each)
    return seen


def read_error(error: BaseException) -> Seen:
    """What application code reads off an exception: its class, the status and the sentence."""
    kind = type(error)
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    return {
        "error": f"{kind.__module__.split('.')[0]}.{kind.__qualname__}",
        "status": status if isinstance(status, int) else None,
        "message": str(error),
    }


def asked(place: dict[str, Any]) -> int:
    """How many requests the gateway has judged: it counts each before it answers."""
    with urllib.request.urlopen(f"{place['ops']}/metrics", timeout=LIMIT) as page:
        lines = page.read().decode().splitlines()
    return sum(
        int(float(line.rsplit(" ", 1)[1]))
        for line in lines
        if line.startswith("sluicegate_evaluations_total{") and f'surface="{place["surface"]}"' in line
    )


def tell(line: Seen) -> None:
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()


def read_code(code_of: Callable[[Exception], object], error: Exception) -> object:
    """None for an exception that carries no answer of the gateway."""
    try:
        return code_of(error)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        return None


def fill(package: str, ways: dict[str, Way], place: dict[str, Any], respond: str, code_of: Callable) -> None:
    """Asks every prompt in every way; each cell is one line of output."""
    with asyncio.Runner() as runner:
        before = asked(place)
        for name, way in ways.items():
            for stream in way.streams:
                for how in ("sync", "async"):
                    ask = way.ask if how == "sync" else way.ask_async
                    if ask is None or (how == "sync" and stream and not way.sync_streams):
                        continue
                    for outcome, prompt in PROMPTS.items():
                        # Whoever hangs is ended with the stack on stderr.
                        faulthandler.dump_traceback_later(LIMIT, exit=True)
                        try:
                            got = ask(prompt, stream)
                            seen = got if how == "sync" else runner.run(asyncio.wait_for(got, LIMIT))
                        except Exception as error:  # noqa: BLE001: whatever a package throws is what is looked at
                            seen = {**read_error(error), "code": read_code(code_of, error)}
                        faulthandler.cancel_dump_traceback_later()
                        cell = {"package": package, "way": name, "streamed": stream, "how": how}
                        after = asked(place)
                        tell({**cell, "respond": respond, "outcome": outcome, "asked": after - before, "seen": seen})
                        before = after
