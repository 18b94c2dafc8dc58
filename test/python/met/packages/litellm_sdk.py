"""LiteLLM's package, on OpenAI's and on Anthropic's API."""

from cells import Seen, Way, collect, collect_async
from page import Page

PACKAGE = "litellm"


def take(seen: Seen, chunk) -> None:
    for choice in chunk.choices:
        seen["text"] += choice.delta.content or ""
        seen["refusal"] += getattr(choice.delta, "refusal", None) or ""
        seen["finish"] = choice.finish_reason or seen["finish"]


def whole(answer) -> Seen:
    choice = answer.choices[0]
    fields = choice.message.provider_specific_fields or {}
    return {
        "text": choice.message.content or "",
        "refusal": getattr(choice.message, "refusal", None) or fields.get("refusal") or "",
        "finish": choice.finish_reason,
    }


def ways(page: Page) -> dict[str, Way]:
    made = page.run("litellm")
    litellm = made["litellm"]

    def completion(to) -> Way:
        def body(prompt: str):
            return {**to, "messages": [{"role": "user", "content": prompt}]}

        def ask(prompt: str, stream: bool) -> Seen:
            answer = litellm.completion(**body(prompt), stream=stream)
            return collect(answer, take) if stream else whole(answer)

        async def ask_async(prompt: str, stream: bool) -> Seen:
            answer = await litellm.acompletion(**body(prompt), stream=stream)
            return await collect_async(answer, take) if stream else whole(answer)

        return Way(ask, ask_async)

    return {"completion, OpenAI": completion(made["openai"]), "completion, Anthropic": completion(made["anthropic"])}
