"""Cohere's package. No dialect of the gateway is its API: what matters is that it ends at once."""

import cohere
from cells import Seen, Way
from page import Page

PACKAGE = "cohere"
# No page shows how to connect it.
SNIPPET = None


def ways(page: Page) -> dict[str, Way]:
    client = cohere.ClientV2(base_url=page.url, api_key=page.key)
    aclient = cohere.AsyncClientV2(base_url=page.url, api_key=page.key)

    def body(prompt: str):
        return {"model": "command", "messages": [{"role": "user", "content": prompt}]}

    def ask(prompt: str, stream: bool) -> Seen:
        if stream:
            return {"text": str(list(client.chat_stream(**body(prompt))))}
        return {"text": str(client.chat(**body(prompt)))}

    async def ask_async(prompt: str, stream: bool) -> Seen:
        if stream:
            return {"text": str([each async for each in aclient.chat_stream(**body(prompt))])}
        return {"text": str(await aclient.chat(**body(prompt)))}

    return {"chat": Way(ask, ask_async)}
