"""LlamaIndex' package for OpenAI."""

from cells import Seen, Way, collect, collect_async
from llama_index.core.llms import ChatMessage
from page import Page

PACKAGE = "llama-index"


def raw(answer) -> tuple[str, str]:
    """What it hands through as it came: the refusal and the reason to finish."""
    choices = answer.raw["choices"] if isinstance(answer.raw, dict) else answer.raw.choices
    choice = choices[0]
    said = getattr(choice, "message", None) or choice.delta
    return getattr(said, "refusal", None) or "", choice.finish_reason or ""


def take(seen: Seen, answer) -> None:
    refusal, finish = raw(answer)
    seen["text"] += answer.delta or ""
    seen["refusal"] += refusal
    seen["finish"] = finish or seen["finish"]


def whole(answer) -> Seen:
    refusal, finish = raw(answer)
    return {"text": answer.message.content or "", "refusal": refusal, "finish": finish}


def ways(page: Page) -> dict[str, Way]:
    llm = page.run("llama-index")["llm"]

    def ask(prompt: str, stream: bool) -> Seen:
        said = [ChatMessage(role="user", content=prompt)]
        return collect(llm.stream_chat(said), take) if stream else whole(llm.chat(said))

    async def ask_async(prompt: str, stream: bool) -> Seen:
        said = [ChatMessage(role="user", content=prompt)]
        return await collect_async(await llm.astream_chat(said), take) if stream else whole(await llm.achat(said))

    return {"chat": Way(ask, ask_async)}
