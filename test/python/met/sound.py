"""Spoken answers that are streamed, as an application takes them with OpenAI's and Google's own packages."""

import asyncio
import base64
import json
import os

import home  # noqa: F401: before any package
from cells import tell
from google import genai
from openai import AsyncOpenAI, OpenAI

PROMPTS = ("good", "bad")


def body(prompt: str) -> dict:
    return {
        "model": "gpt",
        "modalities": ["text", "audio"],
        "audio": {"voice": "alloy", "format": "pcm16"},
        "messages": [{"role": "user", "content": prompt}],
        "stream": True,
    }


def take(seen: dict, chunk) -> None:
    for choice in chunk.choices:
        audio = choice.delta.audio
        if audio is not None:
            seen["sound"] += base64.b64decode(audio.data or "")
            seen["transcript"] += audio.transcript or ""
        seen["finish"] = choice.finish_reason or seen["finish"]


def told(package: str, how: str, prompt: str, seen: dict) -> None:
    sound = seen.pop("sound")
    tell({"package": package, "how": how, "prompt": prompt, "bytes": len(sound), "words": sound.hex(), **seen})


async def main() -> None:
    place = json.loads(os.environ["PLACE"])
    base, key = f"{place['url']}/v1", place["key"]
    client, aclient = OpenAI(base_url=base, api_key=key), AsyncOpenAI(base_url=base, api_key=key)
    google = genai.Client(api_key=key, http_options={"base_url": place["url"]})
    for prompt in PROMPTS:
        seen = {"sound": b"", "transcript": "", "finish": ""}
        for chunk in client.chat.completions.create(**body(prompt)):
            take(seen, chunk)
        told("openai", "sync", prompt, seen)
        seen = {"sound": b"", "transcript": "", "finish": ""}
        async for chunk in await aclient.chat.completions.create(**body(prompt)):
            take(seen, chunk)
        told("openai", "async", prompt, seen)
        seen = {"sound": b"", "transcript": "", "finish": ""}
        for chunk in google.models.generate_content_stream(model="g", contents=prompt):
            candidate = chunk.candidates[0]
            for part in (candidate.content and candidate.content.parts) or []:
                if part.inline_data is not None:
                    seen["sound"] += part.inline_data.data
            seen["finish"] = candidate.finish_reason.name if candidate.finish_reason else seen["finish"]
        told("google-genai", "sync", prompt, seen)


asyncio.run(main())
