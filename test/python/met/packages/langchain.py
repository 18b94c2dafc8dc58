"""LangChain's package for OpenAI: chat completions, Responses, and the helper that parses JSON."""

from cells import Seen, Way, collect, collect_async
from page import Page
from pydantic import BaseModel

PACKAGE = "langchain-openai"


class Answer(BaseModel):
    answer: str


def finish_of(meta: dict) -> str:
    return meta.get("finish_reason") or (meta.get("incomplete_details") or {}).get("reason") or meta.get("status") or ""


def refusal_of(message) -> str:
    parts = message.content if isinstance(message.content, list) else []
    said = "".join(part.get("refusal", "") for part in parts if isinstance(part, dict))
    return said or message.additional_kwargs.get("refusal") or ""


def take(seen: Seen, message) -> None:
    seen["text"] += message.text
    seen["refusal"] += refusal_of(message)
    seen["finish"] = finish_of(message.response_metadata) or seen["finish"]


def of_model(model) -> Way:
    def ask(prompt: str, stream: bool) -> Seen:
        return collect(model.stream(prompt) if stream else [model.invoke(prompt)], take)

    async def ask_async(prompt: str, stream: bool) -> Seen:
        return await collect_async(model.astream(prompt), take) if stream else collect([await model.ainvoke(prompt)], take)

    return Way(ask, ask_async)


def structured(model) -> Way:
    parser = model.with_structured_output(Answer)

    def ask(prompt: str, _stream: bool) -> Seen:
        return {"text": parser.invoke(prompt).answer}

    async def ask_async(prompt: str, _stream: bool) -> Seen:
        return {"text": (await parser.ainvoke(prompt)).answer}

    return Way(ask, ask_async, streams=(False,))


def ways(page: Page) -> dict[str, Way]:
    made = page.run("langchain-openai")
    return {
        "chat": of_model(made["model"]),
        "responses": of_model(made["responses"]),
        "with_structured_output": structured(made["model"]),
    }
