"""Mistral's package, on OpenAI's chat completions, which its API resembles."""

from cells import Seen, Way, collect, collect_async
from page import Page

PACKAGE = "mistralai"


def take(seen: Seen, event) -> None:
    for choice in event.data.choices:
        seen["text"] += choice.delta.content or ""
        seen["finish"] = choice.finish_reason or seen["finish"]


def ways(page: Page) -> dict[str, Way]:
    client = page.run("mistralai")["client"]

    def body(prompt: str):
        return {"model": "mistral", "messages": [{"role": "user", "content": prompt}]}

    def whole(answer) -> Seen:
        choice = answer.choices[0]
        return {"text": choice.message.content or "", "finish": choice.finish_reason}

    def ask(prompt: str, stream: bool) -> Seen:
        if stream:
            return collect(client.chat.stream(**body(prompt)), take)
        return whole(client.chat.complete(**body(prompt)))

    async def ask_async(prompt: str, stream: bool) -> Seen:
        if stream:
            return await collect_async(await client.chat.stream_async(**body(prompt)), take)
        return whole(await client.chat.complete_async(**body(prompt)))

    return {"chat": Way(ask, ask_async)}
