"""Anthropic's own package."""

from cells import Seen, Way, collect, collect_async
from page import Page

PACKAGE = "anthropic"


def of_message(message) -> Seen:
    text = "".join(block.text for block in message.content if block.type == "text")
    return {"text": text, "finish": message.stop_reason}


def take(seen: Seen, event) -> None:
    if event.type == "content_block_delta" and event.delta.type == "text_delta":
        seen["text"] += event.delta.text
    if event.type == "message_delta":
        seen["finish"] = event.delta.stop_reason


def ways(page: Page) -> dict[str, Way]:
    made = page.run("anthropic")
    client, aclient = made["client"], made["aclient"]

    def body(prompt: str):
        return {"model": "claude", "max_tokens": 64, "messages": [{"role": "user", "content": prompt}]}

    def ask(prompt: str, stream: bool) -> Seen:
        if stream:
            return collect(client.messages.create(**body(prompt), stream=True), take)
        return of_message(client.messages.create(**body(prompt)))

    async def ask_async(prompt: str, stream: bool) -> Seen:
        if stream:
            return await collect_async(await aclient.messages.create(**body(prompt), stream=True), take)
        return of_message(await aclient.messages.create(**body(prompt)))

    def stream_helper(prompt: str, stream: bool) -> Seen:
        with client.messages.stream(**body(prompt)) as events:
            return of_message(events.get_final_message())

    async def stream_helper_async(prompt: str, stream: bool) -> Seen:
        async with aclient.messages.stream(**body(prompt)) as events:
            return of_message(await events.get_final_message())

    return {
        "messages": Way(ask, ask_async),
        "messages.stream": Way(stream_helper, stream_helper_async, streams=(True,)),
    }
