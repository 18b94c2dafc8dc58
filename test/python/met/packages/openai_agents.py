"""OpenAI's agents. They stream asynchronously alone."""

from agents import Runner
from cells import Seen, Way
from page import Page

PACKAGE = "openai-agents"


def of_agent(agent) -> Way:
    def ask(prompt: str, _stream: bool) -> Seen:
        return {"text": Runner.run_sync(agent, prompt).final_output}

    async def ask_async(prompt: str, stream: bool) -> Seen:
        if not stream:
            return {"text": (await Runner.run(agent, prompt)).final_output}
        result = Runner.run_streamed(agent, prompt)
        async for _event in result.stream_events():
            pass
        return {"text": result.final_output}

    return Way(ask, ask_async, sync_streams=False)


def ways(page: Page) -> dict[str, Way]:
    made = page.run("openai-agents")
    return {"responses": of_agent(made["agent"]), "chat": of_agent(made["on_chat"])}
