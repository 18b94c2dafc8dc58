"""Google's package for Gemini."""

from cells import Seen, Way, collect, collect_async
from page import Page

PACKAGE = "google-genai"


def take(seen: Seen, chunk) -> None:
    if chunk.prompt_feedback and chunk.prompt_feedback.block_reason:
        seen["finish"] = chunk.prompt_feedback.block_reason.value
        seen["refusal"] = chunk.prompt_feedback.block_reason_message or ""
    for candidate in chunk.candidates or []:
        if candidate.content and candidate.content.parts:
            seen["text"] += "".join(part.text or "" for part in candidate.content.parts)
        if candidate.finish_reason:
            seen["finish"] = candidate.finish_reason.value
            seen["refusal"] = candidate.finish_message or ""


def ways(page: Page) -> dict[str, Way]:
    client = page.run("google-genai")["client"]

    def ask(prompt: str, stream: bool) -> Seen:
        if stream:
            return collect(client.models.generate_content_stream(model="gemini", contents=prompt), take)
        return collect([client.models.generate_content(model="gemini", contents=prompt)], take)

    async def ask_async(prompt: str, stream: bool) -> Seen:
        if stream:
            return await collect_async(await client.aio.models.generate_content_stream(model="gemini", contents=prompt), take)
        return collect([await client.aio.models.generate_content(model="gemini", contents=prompt)], take)

    return {"generate_content": Way(ask, ask_async)}
