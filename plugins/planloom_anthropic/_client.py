"""How servers with ``/v1/messages`` are asked.

Answers come as a stream unless a setting says otherwise: the server itself advises it for long answers, which networks
cut while nothing is sent. ``stream`` and ``prefix_cache`` change how an answer comes and what it costs, not what is
asked: they stay out of a question's fingerprint.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from planloom.clients import Endpoint
from planloom.data_classes import frozen
from planloom.questions import Question, Reply
from planloom.wire import Answer, FaultTable, Interface, LateExchange, WireClient, read_origin, switch_in

from ._replies import read_reply
from ._requests import conversation, message_frame

__all__ = ["INTERFACE", "MessagesDialect", "open_messages"]

INTERFACE = Interface(
    url="https://api.anthropic.com",
    below="/v1",
    path="/messages",
    key_header="x-api-key",
    key_form="{key}",
    headers={"anthropic-version": "2023-06-01"},
)
# Inside a text the quotes would be escaped.
LAST_EVENT = re.compile(rb'data: ?\{[^\n]*"type": ?"(?:message_stop|error)"[^\n]*\}\s*$')


@frozen(kw_only=True)
class MessagesDialect:
    """Messages.

    :ivar stream: ask for the answer piece by piece. :ivar prefix_cache: mark what the server should keep of a question.
    """

    faults: FaultTable
    stream: bool = True
    prefix_cache: bool = False

    def frame(self, question: Question) -> dict[str, Any]:
        """Return what is posted around the messages.

        :raises PermanentError: a parameter that the client sets itself.
        """
        return message_frame(question) | ({"stream": True} if self.stream else {})

    def conversation(self, question: Question) -> dict[str, Any]:
        """Return the messages as they are posted."""
        return conversation(question, prefix_cache=self.prefix_cache)

    def ended(self, tail: bytes) -> bool:
        """Return whether the last event of a stream is there."""
        return LAST_EVENT.search(tail) is not None

    def read(self, answer: Answer, question: Question, seconds: float, now: datetime) -> Reply:
        """Return the reply that an answer holds.

        :raises ModelError: one of its four kinds; see ``_replies`` and ``planloom.wire`` for which.
        """
        return read_reply(answer, question, seconds, self.faults, now)


def open_messages(endpoint: Endpoint) -> WireClient:
    """Return a client for an endpoint.

    :raises ConfigurationError: one of its settings cannot be used.
    """
    origin = read_origin(endpoint, INTERFACE)
    dialect = MessagesDialect(
        faults=FaultTable(origin, "message"),
        stream=switch_in(endpoint, "stream", default=True),
        prefix_cache=bool(endpoint.prefix_cache),
    )
    return WireClient(LateExchange(origin), dialect)
