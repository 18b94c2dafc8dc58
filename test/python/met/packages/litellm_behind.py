"""The gateway with a LiteLLM proxy behind it, asked by OpenAI's package."""

from cells import Way
from page import Page

from packages.openai_sdk import chat_of

PACKAGE = "LiteLLM proxy"
SNIPPET = "openai"


def ways(page: Page) -> dict[str, Way]:
    made = page.run(SNIPPET)
    return {"behind": chat_of(made["client"], made["aclient"])}
