"""Cohere's package. Its API has no word for a refusal: an answer that was withheld ends with ERROR, and says why."""

from cells import Seen, Way, collect, collect_async
from page import Page

PACKAGE = "cohere"


def take(seen: Seen, event) -> None:
    if event.type == "content-delta":
        seen["text"] += event.delta.message.content.text or ""
    elif event.type == "message-end":
        seen["finish"] = event.delta.finish_reason


def ways(page: Page) -> dict[str, Way]:
    made = page.run("cohere")
    client, aclient = made["client"], made["aclient"]

    def body(prompt: str):
        return {"model": "command", "messages": [{"role": "user", "content": prompt}]}

    def whole(answer) -> Seen:
        text = "".join(block.text for block in answer.message.content if block.type == "text")
        return {"text": text, "finish": answer.finish_reason}

    def ask(prompt: str, stream: bool) -> Seen:
        if stream:
            return collect(client.chat_stream(**body(prompt)), take)
        return whole(client.chat(**body(prompt)))

    async def ask_async(prompt: str, stream: bool) -> Seen:
        if stream:
            return await collect_async(aclient.chat_stream(**body(prompt)), take)
        return whole(await aclient.chat(**body(prompt)))

    return {"chat": Way(ask, ask_async)}
