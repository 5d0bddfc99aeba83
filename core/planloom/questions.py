"""A question to a model, its fingerprint, and the reply.

A fingerprint covers everything that is sent: endpoint by its configured name, model id, messages, parameters, sample.
What stays out is transport only (timeouts, retries, keys, labels, headers). Messages keep their parts apart until the
wire, and each part is hashed once, so that a shard of 250 KB that forty workers read is hashed, packed and stored once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Self
from weakref import WeakValueDictionary

import attrs
import rfc8785

from ._errors import Misuse
from ._often_made import often_made
from .money import Usage

__all__ = [
    "KEY_VERSION",
    "LONG_CHARACTERS",
    "PART_SEPARATOR",
    "Message",
    "Parameters",
    "Part",
    "Question",
    "Questions",
    "Reply",
    "canonical_json",
    "head_of",
    "message_of",
    "text_digest",
]

KEY_VERSION = 1
"""Version of the fingerprint; answers under older versions stay readable."""

PART_SEPARATOR = "\n\n"


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 form, in hex.

    :raises Misuse: the text holds a lone surrogate, which no server can be sent.
    """
    try:
        return hashlib.sha256(text.encode("utf-8")).hexdigest()
    except UnicodeEncodeError as error:
        raise Misuse(
            f"the text holds a lone surrogate at character {error.start}, which cannot be sent to a model; remove it"
        ) from error


def canonical_json(value: Any) -> bytes:
    """Return the canonical JSON (RFC 8785) of a value.

    :raises Misuse: NaN, an infinity, a lone surrogate, a key that is not text, or an integer beyond 2**53.
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise Misuse(f"the value cannot be part of a question: {error}") from error


# Writes a text as canonical JSON does, ten times faster than the whole of it would be.
_quoted = json.encoder.encode_basestring
_LARGEST_EXACT = 2**53


def _message_head(message: Message) -> str:
    parts = message.parts
    digests = parts[0].digest if len(parts) == 1 else '","'.join([part.digest for part in parts])
    return f'{{"parts":["{digests}"],"role":{_quoted(message.role)}}}' if parts else _partless(message)


def _partless(message: Message) -> str:
    return f'{{"parts":[],"role":{_quoted(message.role)}}}'


def _spliced(around: tuple[str, str], heads: str, sample: tuple[int, int]) -> bytes:
    """Canonical JSON sorts its keys, so that ready-made parts of it can be put in where they belong."""
    before, behind = around
    run, own = sample
    exact = type(run) is int and type(own) is int and max(abs(run), abs(own)) < _LARGEST_EXACT
    drawn = f"[{run},{own}]" if exact else canonical_json([run, own]).decode("utf-8")
    try:
        return f"{before}{heads}{behind}{drawn}}}".encode()
    except UnicodeEncodeError as error:
        raise Misuse(f"the question names what holds a lone surrogate, which cannot be sent: {error}") from error


class Part:
    """One piece of a message's text, hashed once however often it is sent."""

    __slots__ = ("__weakref__", "_digest", "_size_bytes", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._digest: str | None = None
        self._size_bytes: int | None = None

    def __bool__(self) -> bool:
        return bool(self.text)

    @property
    def digest(self) -> str:
        """SHA-256 of the text, in hex."""
        known = self._digest
        if known is None:
            try:
                known = self._digest = hashlib.sha256(self.text.encode("utf-8")).hexdigest()
            except UnicodeEncodeError:
                return text_digest(self.text)  # which says what is wrong with it
        return known

    @property
    def is_hashed(self) -> bool:
        """Whether its digest is known, so that asking for it costs nothing."""
        return self._digest is not None

    @property
    def size_bytes(self) -> int:
        """Length of its UTF-8 form: an upper bound of its tokens."""
        if self._size_bytes is None:
            text = self.text
            self._size_bytes = len(text) if text.isascii() else len(text.encode("utf-8"))
        return self._size_bytes


@often_made
class Message:
    """One message of a conversation.

    :ivar role: ``system``, ``user`` or ``assistant``.
    :ivar parts: joined by a blank line on the wire; never empty ones.
    """

    role: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The text as it is sent."""
        return PART_SEPARATOR.join(part.text for part in self.parts)


LONG_CHARACTERS = 16_384
"""A longer text takes as long to hash as all else that is done for a worker."""

_long_parts: WeakValueDictionary[str, Part] = WeakValueDictionary()


def _long_part(text: str) -> Part:
    """Return a part of a long text, the same one as long as anybody holds it, to be hashed once."""
    known = _long_parts.get(text)
    if known is None:
        known = _long_parts[text] = Part(text)
    return known


def message_of(role: str, *texts: Part | str) -> Message:
    """Return a message of these texts; empty ones are left out."""
    parts = [
        text if isinstance(text, Part) else Part(text) if len(text) <= LONG_CHARACTERS else _long_part(text)
        for text in texts
        if text
    ]
    return Message(role, tuple(parts))


def head_of(role: str, texts: Iterable[Part | str]) -> str | None:
    """Return what a fingerprint takes of the message that :func:`message_of` would make, which need not be made for
    that; empty where it has no text, ``None`` where a long one is not hashed yet.

    :param role: one of the three, none of which is written otherwise in JSON.
    :raises Misuse: a text cannot be sent.
    """
    digests = []
    for text in texts:
        if not text:
            continue
        if isinstance(text, str) and len(text) <= LONG_CHARACTERS:
            try:
                digests.append(hashlib.sha256(text.encode()).hexdigest())
            except UnicodeEncodeError:
                text_digest(text)  # which says what is wrong with it
        else:
            part = text if isinstance(text, Part) else _long_part(text)
            if not part.is_hashed and len(part.text) > LONG_CHARACTERS:
                return None
            digests.append(part.digest)
    if not digests:
        return ""
    joined = digests[0] if len(digests) == 1 else '","'.join(digests)
    return f'{{"parts":["{joined}"],"role":"{role}"}}'


class Parameters(Mapping[str, Any]):
    """JSON data sent beside the messages. Its canonical form is worked out once for all questions that share it."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)
        self._canonical: bytes | None = None
        self._around: dict[tuple[str, str], tuple[str, str]] = {}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        # A mapping's own way is to look it up and to catch the failure, which takes three times as long.
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def canonical(self) -> bytes:
        """Canonical JSON of the values.

        :raises Misuse: they hold what canonical JSON has no form for.
        """
        if self._canonical is None:
            self._canonical = canonical_json(self._values)
        return self._canonical

    def around(self, endpoint: str, model: str) -> tuple[str, str]:
        """Return what canonical JSON of a question with these parameters has before its messages, and behind them up to
        its sample; worked out once for each endpoint and model.

        :raises Misuse: one of them holds what canonical JSON has no form for.
        """
        known = self._around.get((endpoint, model))
        if known is None:
            before = f'{{"endpoint":{_quoted(endpoint)},"key_version":{KEY_VERSION},"messages":['
            parameters = self.canonical.decode("utf-8")
            behind = f'],"model":{_quoted(model)},"parameters":{parameters},"sample":'
            known = self._around[endpoint, model] = (before, behind)
        return known


def _as_parameters(values: Mapping[str, Any]) -> Parameters:
    return values if isinstance(values, Parameters) else Parameters(values)


@often_made(kw_only=True)
class Question:
    """Everything that is sent to a model, and which independent answer to it is wanted.

    :ivar endpoint: the endpoint's configured name.
    :ivar model: the model id as it is sent.
    :ivar parameters: JSON data sent beside the messages (temperature, max_tokens, response_format, ...).
    :ivar sample: the run's number within its job, and the plan's ``sample=``.
    """

    endpoint: str
    model: str
    messages: tuple[Message, ...]
    parameters: Parameters = attrs.field(converter=_as_parameters)
    sample: tuple[int, int] = (0, 0)

    # A cached property of a class with slots is found by way of a failed look-up, which takes longer than the hashing.
    _skeleton: bytes | None = attrs.field(default=None, init=False, eq=False, repr=False)
    _fingerprint: str | None = attrs.field(default=None, init=False, eq=False, repr=False)

    @property
    def skeleton(self) -> bytes:
        """Canonical JSON of the question with each part's text replaced by its hash; worked out once."""
        known = self._skeleton
        if known is None:
            heads = ",".join([_message_head(message) for message in self.messages])
            known = _spliced(self.parameters.around(self.endpoint, self.model), heads, self.sample)
            object.__setattr__(self, "_skeleton", known)
        return known

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the skeleton, in hex; worked out once."""
        known = self._fingerprint
        if known is None:
            known = hashlib.sha256(self.skeleton).hexdigest()
            object.__setattr__(self, "_fingerprint", known)
        return known

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of all messages."""
        if len(self.messages) == 1:
            return self.messages[0].parts
        return tuple([part for message in self.messages for part in message.parts])

    @property
    def input_tokens_bound(self) -> int:
        """An upper bound of its input tokens: UTF-8 bytes, and eight tokens a message for the server's own frame."""
        schema = len(self.parameters.canonical) if "response_format" in self.parameters else 0
        frame = 8 * (len(self.messages) + 1) + schema
        return frame + sum([part.size_bytes for part in self.parts])


class Questions:
    """Questions that differ in their messages and samples alone.

    :ivar endpoint: the endpoint's configured name. :ivar model: the model id as it is sent.
    """

    def __init__(self, endpoint: str, model: str, parameters: Parameters) -> None:
        self.endpoint, self.model, self.parameters = endpoint, model, parameters
        self._around: tuple[str, str] | None = None

    def question(self, messages: tuple[Message, ...], sample: tuple[int, int]) -> Question:
        """Return one of them."""
        return Question(
            endpoint=self.endpoint, model=self.model, messages=messages, parameters=self.parameters, sample=sample
        )

    def fingerprint(self, messages: tuple[Message, ...], sample: tuple[int, int]) -> str:
        """Return the fingerprint of one of them, which need not be made for that.

        :raises Misuse: it cannot be sent.
        """
        return self.fingerprint_of(",".join([_message_head(message) for message in messages]), sample)

    def fingerprint_of(self, heads: str, sample: tuple[int, int]) -> str:
        """Return the fingerprint of one of them, of whose messages there is what :func:`head_of` says, with commas.

        :raises Misuse: it cannot be sent.
        """
        around = self._around
        if around is None:
            around = self._around = self.parameters.around(self.endpoint, self.model)
        return hashlib.sha256(_spliced(around, heads, sample)).hexdigest()


@often_made(kw_only=True)
class Reply:
    """What a model answered.

    :ivar finish_reason: as the server said it (``stop``, ``length``, ``content_filter``, ...), or ``None``.
    :ivar seconds: from sending the request to the last byte.
    :ivar model: the model as the server named it.
    :ivar price: what it cost, in micro-credits.
    :ivar estimated: the price rests on estimated token counts, since the server gave none.
    :ivar cached: the ledger answered.
    :ivar version: the number by which a store knows this very reply among all it holds; ``None`` until it is stored.
    """

    text: str
    finish_reason: str | None
    usage: Usage
    seconds: float
    model: str
    price: int = 0
    estimated: bool = False
    role: str = ""
    created_at: datetime | None = None
    key_version: int = KEY_VERSION
    cached: bool = False
    version: int | None = None

    def stored_as(self, version: int) -> Self:
        """Return it with its number in the store that has just taken it; nobody else holds it yet, so it is no copy."""
        object.__setattr__(self, "version", version)
        return self

    @property
    def whole(self) -> bool:
        """Whether it can count as an answer: not empty, not cut, not filtered, no error for a finish reason."""
        return bool(self.text.strip()) and self.finish_reason in (
            None,
            "stop",
            "end_turn",
            "tool_calls",
            "stop_sequence",
        )
