"""A LiteLLM proxy that asks the gateway, as applications ask it: by OpenAI's package."""

from cells import Way
from page import Page

from packages.openai_sdk import chat_of

PACKAGE = "LiteLLM proxy"
PAGE = "integrations/litellm.md"


def ways(page: Page) -> dict[str, Way]:
    made = page.run(PACKAGE)
    return {"in front": chat_of(made["client"], made["aclient"])}
