"""Pydantic AI's agents."""

from cells import Seen, Way
from page import Page

PACKAGE = "pydantic-ai"


def ways(page: Page) -> dict[str, Way]:
    agent = page.run("pydantic-ai")["agent"]

    def whole(result) -> Seen:
        return {"text": result.output, "finish": result.response.finish_reason}

    def ask(prompt: str, stream: bool) -> Seen:
        if not stream:
            return whole(agent.run_sync(prompt))
        result = agent.run_stream_sync(prompt)
        text = "".join(result.stream_text(delta=True))
        return {"text": text, "finish": result.response.finish_reason}

    async def ask_async(prompt: str, stream: bool) -> Seen:
        if not stream:
            return whole(await agent.run(prompt))
        async with agent.run_stream(prompt) as result:
            text = "".join([piece async for piece in result.stream_text(delta=True)])
            return {"text": text, "finish": result.response.finish_reason}

    return {"Agent": Way(ask, ask_async)}
