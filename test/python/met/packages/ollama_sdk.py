"""Ollama's package. Its API has no word for a refusal: there the sentence says it."""

from cells import Seen, Way, collect, collect_async
from page import Page

PACKAGE = "ollama"


def take_chat(seen: Seen, part) -> None:
    seen["text"] += part.message.content or ""
    seen["finish"] = part.done_reason or seen["finish"]


def take_generate(seen: Seen, part) -> None:
    seen["text"] += part.response
    seen["finish"] = part.done_reason or seen["finish"]


def ways(page: Page) -> dict[str, Way]:
    made = page.run("ollama")
    client, aclient = made["client"], made["aclient"]

    def way(name: str, take, body) -> Way:
        def ask(prompt: str, stream: bool) -> Seen:
            answer = getattr(client, name)(model="m", **body(prompt), stream=stream)
            return collect(answer if stream else [answer], take)

        async def ask_async(prompt: str, stream: bool) -> Seen:
            answer = await getattr(aclient, name)(model="m", **body(prompt), stream=stream)
            return await collect_async(answer, take) if stream else collect([answer], take)

        return Way(ask, ask_async)

    return {
        "chat": way("chat", take_chat, lambda prompt: {"messages": [{"role": "user", "content": prompt}]}),
        "generate": way("generate", take_generate, lambda prompt: {"prompt": prompt}),
    }
