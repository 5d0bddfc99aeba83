"""HTTP as clients of model servers share it: where to post, one request and one answer, and which fault a refusal is.

A client plugin brings a :class:`Dialect`, which writes a question as a request body and reads an answer's body, and an
:class:`Interface`, which says where such servers listen and how they want the key. :class:`WireClient` makes a model
client of the two. Nothing here imports an HTTP library before the first question is posted.
"""

from __future__ import annotations

from ._bodies import Ambiguous, count_in, mapping_in, parse_json, storable, tells_error, text_in
from ._client import Dialect, WireClient, check_unreserved
from ._events import DONE, ServerEvent, Unfinished, events_in, looks_like_events, values_in
from ._exchange import Answer, Exchange, LateExchange
from ._faults import FaultTable, Refusal
from ._origin import Interface, Origin, Timeouts, read_origin, switch_in
from ._waits import wait_asked_s

__all__ = [
    "DONE",
    "Ambiguous",
    "Answer",
    "Dialect",
    "Exchange",
    "FaultTable",
    "Interface",
    "LateExchange",
    "Origin",
    "Refusal",
    "ServerEvent",
    "Timeouts",
    "Unfinished",
    "WireClient",
    "check_unreserved",
    "count_in",
    "events_in",
    "looks_like_events",
    "mapping_in",
    "parse_json",
    "read_origin",
    "storable",
    "switch_in",
    "tells_error",
    "text_in",
    "values_in",
    "wait_asked_s",
]
