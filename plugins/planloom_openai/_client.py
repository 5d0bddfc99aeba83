"""How servers with ``/chat/completions`` are asked.

``stream`` and ``rename`` change the form of a request and not what is asked, so that answers stay valid under either:
they stay out of a question's fingerprint.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from planloom import ConfigurationError
from planloom.clients import Endpoint
from planloom.data_classes import frozen
from planloom.questions import Question, Reply
from planloom.wire import (
    DONE,
    Answer,
    FaultTable,
    Interface,
    LateExchange,
    WireClient,
    check_unreserved,
    read_origin,
    switch_in,
)

from ._replies import read_reply

__all__ = ["INTERFACE", "ChatDialect", "open_chat"]

INTERFACE = Interface(path="/chat/completions")
RESERVED = frozenset({"messages", "model", "n", "stream", "stream_options"})
END_MARK = DONE.encode()


@frozen(kw_only=True)
class ChatDialect:
    """Chat completions.

    :ivar stream: ask for the answer piece by piece. :ivar stream_usage: ask for token counts then, which some servers
        send anyway and refuse to be asked for.
    :ivar rename: what parameters are called by this server, where it calls them otherwise.
    """

    faults: FaultTable
    stream: bool = False
    stream_usage: bool = True
    rename: Mapping[str, str] = attrs.field(factory=dict)

    def frame(self, question: Question) -> dict[str, Any]:
        """Return what is posted around the messages.

        :raises PermanentError: a parameter that the client sets itself.
        """
        parameters = {self.rename.get(name, name): value for name, value in question.parameters.items()}
        check_unreserved(parameters, RESERVED)
        return {"model": question.model, **parameters, **self._streaming()}

    def conversation(self, question: Question) -> dict[str, Any]:
        """Return the messages as they are posted."""
        return {"messages": [{"role": message.role, "content": message.text} for message in question.messages]}

    def _streaming(self) -> dict[str, Any]:
        if not self.stream:
            return {}
        return {"stream": True} | ({"stream_options": {"include_usage": True}} if self.stream_usage else {})

    def ended(self, tail: bytes) -> bool:
        """Return whether a stream said that it is done."""
        return tail.rstrip().endswith(END_MARK)

    def read(self, answer: Answer, question: Question, seconds: float, now: datetime) -> Reply:
        """Return the reply that an answer holds.

        :raises ModelError: one of its four kinds; see ``_replies`` and ``planloom.wire`` for which.
        """
        return read_reply(answer, question.model, seconds, self.faults, now)


def open_chat(endpoint: Endpoint) -> WireClient:
    """Return a client for an endpoint.

    :raises ConfigurationError: one of its settings cannot be used.
    """
    origin = read_origin(endpoint, INTERFACE)
    dialect = ChatDialect(
        faults=FaultTable(origin, "chat completion"),
        stream=switch_in(endpoint, "stream", default=False),
        stream_usage=switch_in(endpoint, "stream_usage", default=True),
        rename=_renamed(endpoint),
    )
    return WireClient(LateExchange(origin), dialect)


def _renamed(endpoint: Endpoint) -> Mapping[str, str]:
    names = endpoint.settings.get("rename", {})
    if not isinstance(names, Mapping) or not all(isinstance(name, str) and name for name in names.values()):
        raise ConfigurationError(
            f"rename of endpoint `{endpoint.name}` must name parameters by parameters, got {names!r};"
            ' write rename = { max_tokens = "max_completion_tokens" }'
        )
    return names
