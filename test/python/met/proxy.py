"""A LiteLLM proxy as its own command starts it, watched for calls to elsewhere."""

import home  # noqa: F401: before any package
from litellm.proxy.proxy_cli import ProxyInitializationHelpers, run_server

# What uvloop connects to is not seen.
ProxyInitializationHelpers.get_loop_type = staticmethod(lambda: "asyncio")

run_server()
