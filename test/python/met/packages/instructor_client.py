"""Instructor, which has a model fill in an object."""

from cells import Seen, Way
from page import Page

PACKAGE = "instructor"


def last(objects: list) -> Seen:
    return {"text": objects[-1].answer if objects else ""}


def ways(page: Page) -> dict[str, Way]:
    made = page.run("instructor")
    client, aclient, answer = made["client"], made["aclient"], made["Answer"]

    def body(prompt: str):
        return {"model": "gpt", "response_model": answer, "messages": [{"role": "user", "content": prompt}]}

    def ask(prompt: str, stream: bool) -> Seen:
        if not stream:
            return {"text": client.create(**body(prompt)).answer}
        return last([each for each in client.create_partial(**body(prompt))])

    async def ask_async(prompt: str, stream: bool) -> Seen:
        if not stream:
            return {"text": (await aclient.create(**body(prompt))).answer}
        return last([each async for each in aclient.create_partial(**body(prompt))])

    return {"create": Way(ask, ask_async)}
