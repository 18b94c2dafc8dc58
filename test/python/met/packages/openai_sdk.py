"""OpenAI's own package: chat, Responses, completions, Azure's paths, and the helper that parses JSON."""

from cells import Seen, Way, collect, collect_async
from page import Page
from pydantic import BaseModel

PACKAGE = "openai"


class Answer(BaseModel):
    answer: str


def take_chat(seen: Seen, chunk) -> None:
    for choice in chunk.choices:
        seen["text"] += choice.delta.content or ""
        seen["refusal"] += getattr(choice.delta, "refusal", None) or ""
        seen["finish"] = choice.finish_reason or seen["finish"]


def whole_chat(answer) -> Seen:
    choice = answer.choices[0]
    return {"text": choice.message.content or "", "refusal": choice.message.refusal or "", "finish": choice.finish_reason}


def of_response(response) -> Seen:
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    return {
        "text": response.output_text,
        "refusal": "".join(part.refusal for part in parts if part.type == "refusal"),
        "finish": response.incomplete_details.reason if response.incomplete_details else response.status,
    }


def take_completion(seen: Seen, chunk) -> None:
    for choice in chunk.choices:
        seen["text"] += choice.text or ""
        seen["finish"] = choice.finish_reason or seen["finish"]


def chat_of(client, aclient) -> Way:
    def body(prompt: str):
        return {"model": "gpt", "messages": [{"role": "user", "content": prompt}]}

    def ask(prompt: str, stream: bool) -> Seen:
        if stream:
            return collect(client.chat.completions.create(**body(prompt), stream=True), take_chat)
        return whole_chat(client.chat.completions.create(**body(prompt)))

    async def ask_async(prompt: str, stream: bool) -> Seen:
        if stream:
            return await collect_async(await aclient.chat.completions.create(**body(prompt), stream=True), take_chat)
        return whole_chat(await aclient.chat.completions.create(**body(prompt)))

    return Way(ask, ask_async)


def responses_of(client, aclient, last_response) -> Way:
    def ask(prompt: str, stream: bool) -> Seen:
        if stream:
            return of_response(last_response(model="gpt", input=prompt))
        return of_response(client.responses.create(model="gpt", input=prompt))

    async def ask_async(prompt: str, stream: bool) -> Seen:
        if not stream:
            return of_response(await aclient.responses.create(model="gpt", input=prompt))
        events = await aclient.responses.create(model="gpt", input=prompt, stream=True)
        return of_response([event async for event in events][-1].response)

    return Way(ask, ask_async)


def responses_helper_of(client, aclient) -> Way:
    def ask(prompt: str, _stream: bool) -> Seen:
        with client.responses.stream(model="gpt", input=prompt) as events:
            return of_response(events.get_final_response())

    async def ask_async(prompt: str, _stream: bool) -> Seen:
        async with aclient.responses.stream(model="gpt", input=prompt) as events:
            return of_response(await events.get_final_response())

    return Way(ask, ask_async, streams=(True,))


def completions_of(client, aclient) -> Way:
    def whole(answer) -> Seen:
        return {"text": answer.choices[0].text, "finish": answer.choices[0].finish_reason}

    def ask(prompt: str, stream: bool) -> Seen:
        if stream:
            return collect(client.completions.create(model="gpt", prompt=prompt, stream=True), take_completion)
        return whole(client.completions.create(model="gpt", prompt=prompt))

    async def ask_async(prompt: str, stream: bool) -> Seen:
        if stream:
            stream_ = await aclient.completions.create(model="gpt", prompt=prompt, stream=True)
            return await collect_async(stream_, take_completion)
        return whole(await aclient.completions.create(model="gpt", prompt=prompt))

    return Way(ask, ask_async)


def parse_of(client, aclient) -> Way:
    def body(prompt: str):
        return {"model": "gpt", "messages": [{"role": "user", "content": prompt}], "response_format": Answer}

    def seen(completion) -> Seen:
        choice = completion.choices[0]
        parsed = choice.message.parsed
        return {
            "text": parsed.answer if parsed else "",
            "refusal": choice.message.refusal or "",
            "finish": choice.finish_reason,
        }

    def ask(prompt: str, stream: bool) -> Seen:
        if not stream:
            return seen(client.chat.completions.parse(**body(prompt)))
        with client.chat.completions.stream(**body(prompt)) as events:
            return seen(events.get_final_completion())

    async def ask_async(prompt: str, stream: bool) -> Seen:
        if not stream:
            return seen(await aclient.chat.completions.parse(**body(prompt)))
        async with aclient.chat.completions.stream(**body(prompt)) as events:
            return seen(await events.get_final_completion())

    return Way(ask, ask_async)


def ways(page: Page) -> dict[str, Way]:
    made = page.run("openai")
    plain, azure = (made["client"], made["aclient"]), (made["azure"], made["aazure"])
    return {
        "chat": chat_of(*plain),
        "responses": responses_of(*plain, made["last_response"]),
        "responses.stream": responses_helper_of(*plain),
        "completions": completions_of(*plain),
        "parse": parse_of(*plain),
        "AzureOpenAI": chat_of(*azure),
    }
