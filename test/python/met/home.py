"""What phones home is caught: names are looked up and connections made for this machine alone."""

import os
import sys

LOCAL = {"127.0.0.1", "::1", "localhost", "0.0.0.0", "", None}


def watch(event: str, args: tuple) -> None:
    if event == "socket.connect" and isinstance(args[1], tuple):
        host = args[1][0]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0]
    else:
        return
    if isinstance(host, bytes):
        host = host.decode()
    if host in LOCAL:
        return
    # For the test, which fails where there is a line; the call fails at once.
    with open(os.environ["PHONED_HOME"], "a", encoding="utf-8") as file:
        file.write(f"{event} {host}\n")
    raise OSError(f"no network: {host}")


if "PHONED_HOME" in os.environ:
    sys.addaudithook(watch)
