"""The client for every server that speaks OpenAI's ``/chat/completions``."""

from __future__ import annotations

from collections.abc import Callable

from planloom.clients import ClientPlugin, Endpoint, ModelClient
from planloom.hookspecs import hookimpl

__all__ = ["CLIENT", "open_client", "register_clients"]


def open_client(endpoint: Endpoint) -> ModelClient:
    """Return a client for an endpoint; nothing is sent yet.

    :raises ConfigurationError: the url, the key's variable, a timeout or a setting cannot be used.
    """
    from ._client import open_chat

    return open_chat(endpoint)


CLIENT = ClientPlugin(
    name="openai",
    summary="any server with OpenAI's /chat/completions: OpenAI, vLLM, Ollama, llama.cpp, OpenRouter, ...",
    open=open_client,
    settings=("allow_insecure", "proxy", "rename", "stream", "stream_usage"),
)


@hookimpl
def register_clients(register: Callable[[ClientPlugin], None]) -> None:
    """Offer the client."""
    register(CLIENT)
