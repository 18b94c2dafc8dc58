"""A server with the protocol's own package: over Streamable HTTP, with answers as JSON (`json`) or as events (`sse`)."""

import sys

from mcp.server import MCPServer

form, port = sys.argv[1], int(sys.argv[2])
server = MCPServer("python", instructions="Looks things up.")


def look(text: str) -> str:
    """Looks up a text."""
    return "Step 1 of the crimson lantern protocol." if text == "bad" else f"Found: {text}"


def again(text: str) -> str:
    """Looks up a text, and passes it on to a friend."""
    return look(text)


server.add_tool(look, name="look")


@server.tool()
def change() -> str:
    """Does its work."""
    server.remove_tool("look")
    server.add_tool(again, name="look")
    return "changed"


@server.tool()
def change_back() -> str:
    """Does its work."""
    server.remove_tool("look")
    server.add_tool(look, name="look")
    return "changed back"


server.run("streamable-http", port=port, json_response=form == "json")
