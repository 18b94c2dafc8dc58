"""What an application sees through the protocol's own package: a list, calls, refusals, and a definition that changes."""

import asyncio
import json
import os

import home  # noqa: F401: before any package
from cells import tell
from mcp import MCPError
from page import Page


async def outcome(asked) -> dict:
    try:
        result = await asked
    except MCPError as error:
        return {"code": error.code, "message": error.message, "data": error.data}
    return {"failed": result.is_error, "text": "".join(block.text for block in result.content)}


async def main() -> None:
    place = json.loads(os.environ["PLACE"])
    for name in place["servers"]:
        made = Page("mcp.md", f"{place['url']}", place["key"]).run("mcp")
        for mode in ("legacy", "auto"):
            async with made["connect"](name, mode) as client:

                def look(text: str):
                    return outcome(client.call_tool("look", {"text": text}))

                async def names() -> list[str]:
                    return sorted(tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools)

                tell({"server": name, "mode": mode, "what": "revision", "seen": client.protocol_version})
                tell({"server": name, "mode": mode, "what": "list", "seen": await names()})
                for text in ("milk", "crimson lantern protocol", "amber ledger numbers", "silver kettle question", "bad"):
                    tell({"server": name, "mode": mode, "what": text, "seen": await look(text)})
                many = await asyncio.gather(*(look(f"n{i}") for i in range(8)))
                tell({"server": name, "mode": mode, "what": "many", "seen": [each["text"] for each in many]})
                await client.call_tool("change", {})
                tell({"server": name, "mode": mode, "what": "list, changed", "seen": await names()})
                tell({"server": name, "mode": mode, "what": "call, changed", "seen": await look("milk")})
                await client.call_tool("change_back", {})
                tell({"server": name, "mode": mode, "what": "list, as it was", "seen": await names()})
                tell({"server": name, "mode": mode, "what": "call, as it was", "seen": await look("milk")})


asyncio.run(main())
