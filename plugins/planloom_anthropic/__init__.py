"""The client for servers that speak Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Callable

from planloom.clients import ClientPlugin, Endpoint, ModelClient
from planloom.hookspecs import hookimpl

__all__ = ["CLIENT", "open_client", "register_clients"]


def open_client(endpoint: Endpoint) -> ModelClient:
    """Return a client for an endpoint; nothing is sent yet.

    :raises ConfigurationError: the url, the key's variable, a timeout or a setting cannot be used.
    """
    from ._client import open_messages

    return open_messages(endpoint)


CLIENT = ClientPlugin(
    name="anthropic",
    summary="Anthropic's Messages API, and servers that speak it",
    open=open_client,
    settings=("allow_insecure", "proxy", "stream"),
    json_modes=("json_schema", "none"),
    # Newer models answer 400 to either, others to the two together.
    unsent=("temperature", "top_p"),
    streams=True,
)


@hookimpl
def register_clients(register: Callable[[ClientPlugin], None]) -> None:
    """Offer the client."""
    register(CLIENT)
