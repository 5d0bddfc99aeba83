"""A worker's conversation: the question, its answer, and at most one repair turn."""

from __future__ import annotations

import asyncio
from typing import Any

from ._errors import Misuse, PlanloomError
from ._json_modes import IN_WORDS, JsonModes
from ._structured import Reading, read_answer, repair_request
from .clients import JsonModeRefused, ModelError
from .front_door import Asker, Effort, FrontDoor
from .questions import (
    LONG_CHARACTERS,
    Message,
    Parameters,
    Part,
    Question,
    Questions,
    Reply,
    canonical_json,
    message_of,
)
from .settings import RoleSettings, Settings
from .stores import ThreadTrace
from .workers import Performed, Schema, WorkerRequest

__all__ = ["ModelWorkers"]

_ERROR_LENGTH = 300
_REPLAYED_LENGTH = 6_000
_UNTROUBLED = (None, "stop", "end_turn")


class ModelWorkers:
    """Performs workers' requests with real models, through the front door.

    :param run_number: which repeat of its job the run is; repeats draw independent answers.
    :param json_modes: what the run found out about asking for answers of a shape.
    """

    def __init__(
        self, door: FrontDoor, settings: Settings, run_number: int = 0, json_modes: JsonModes | None = None
    ) -> None:
        self._door = door
        self._settings = settings
        self._run_number = run_number
        self._json_modes = json_modes or JsonModes()
        self._hashing = asyncio.Lock()
        self._kinds: dict[tuple[str, bytes | None, str], Questions] = {}
        self._plain_kinds: dict[str, Questions] = {}

    @property
    def roles(self) -> set[str]:
        """The roles of whose questions one was made so far."""
        return {name for name, _, _ in self._kinds}

    async def perform(self, request: WorkerRequest, asker: Asker) -> Performed:
        """Return what the worker brings back; a failure is a value with an error.

        :raises RunAborted: the run must end.
        """
        role = self._settings.role(request.role)
        talk = _Talk(role, Effort(self._settings.worker_timeout_s))
        try:
            performed = await self._converse(request, role, talk, asker)
        except ModelError as error:
            performed = talk.failed(_said(error, talk.effort))
        self._door.claim(performed.fingerprints)
        return performed

    def recalled(self, request: WorkerRequest, former: ThreadTrace) -> tuple[Any, Reply] | None:
        """Return the value that a worker came to at an earlier start of its run, and the reply to its only question.

        :returns: ``None`` where anything is not as it was then, or not at hand: :meth:`perform` does what is right.
        """
        if len(former.versions) != 1 or len(former.fingerprints) != 1:
            return None
        fingerprint = former.fingerprints[0]
        try:
            if self._fingerprint(request) != fingerprint:
                return None
        except PlanloomError:
            return None
        reply = self._door.recalled(fingerprint, former.versions[0])
        if reply is None:
            return None
        value: Any = reply.text
        if request.schema is not None:
            reading = read_answer(reply.text, request.schema)
            if not reading.ok:
                return None
            value = reading.value
        self._door.reused += 1
        return value, reply

    def _fingerprint(self, request: WorkerRequest) -> str | None:
        """Return the fingerprint of a request's question; ``None`` where it takes long to hash.

        :raises PlanloomError: it cannot be asked.
        """
        sample = (self._run_number, request.sample)
        if request.schema is not None:
            role = self._settings.role(request.role)
            kind, messages = self._asked(request, role, self._mode(role, request.schema))
            return None if _has_long_work(messages) else kind.fingerprint(messages, sample)
        kind = self._plain_kinds.get(request.role) or self._plain_kind(request.role)
        heads = request.build().heads()
        return None if heads is None else kind.fingerprint_of(heads, sample)

    def _plain_kind(self, name: str) -> Questions:
        """Return what all questions of a role have in common that may be answered in any form."""
        kind = self._plain_kinds[name] = self._kind(self._settings.role(name), None, "")
        return kind

    async def _converse(self, request: WorkerRequest, role: RoleSettings, talk: _Talk, asker: Asker) -> Performed:
        schema, doorstep = request.schema, self._door.doorstep
        if not doorstep.is_free():
            await doorstep.wait()
        try:
            question = await self._question(request, role, self._mode(role, schema))
        except Misuse as error:
            return talk.failed(f"unsendable: {error}")
        if schema is None or self._is_in_words(question, role, schema):
            reply = await self._ask(question, role, talk, asker)
        else:
            try:
                reply = await self._ask(question, role, talk, self._unless_refused(asker, role, schema))
            except JsonModeRefused:
                self._json_modes.refused(role, schema)
                question = await self._question(request, role, IN_WORDS)
                reply = await self._ask(question, role, talk, asker)
        if schema is not None and self._is_in_words(question, role, schema):
            self._json_modes.answered(role, schema, self._configured_mode(role))
        if not reply.whole:
            return talk.failed(_unusable(reply))
        if request.schema is None:
            return talk.done(reply.text)
        reading = read_answer(reply.text, request.schema)
        if not reading.ok:
            reply = await self._ask(_repair(question, reply, reading), role, talk, asker)
            if not reply.whole:
                return talk.failed(_unusable(reply))
            reading = read_answer(reply.text, request.schema)
        return talk.done(reading.value) if reading.ok else talk.failed(f"schema: {'; '.join(reading.problems)}")

    def _unless_refused(self, asker: Asker, role: RoleSettings, schema: Schema) -> Asker:
        """Return an asker that sends nothing once the server has refused another the same, while it waited."""

        def sends() -> None:
            if self._json_modes.in_words(role, schema):
                raise JsonModeRefused("refused another worker", error_class="bad_request")

        return Asker(run=asker.run, thread=asker.thread, started=asker.started, asks=asker.asks, sends=sends)

    def _is_in_words(self, question: Question, role: RoleSettings, schema: Schema) -> bool:
        return question.parameters is self._kind(role, schema, IN_WORDS).parameters

    async def _question(self, request: WorkerRequest, role: RoleSettings, mode: str) -> Question:
        """Return the question of a request, hashed; where that is to be in words since the server refused another way,
        the one of the two that is answered already.

        :raises Misuse: it cannot be sent.
        """
        kind, messages = self._asked(request, role, mode)
        question = kind.question(messages, (self._run_number, request.sample))
        if _has_long_work(messages):
            await self._hash(question)
        question.fingerprint  # noqa: B018 - hashing it finds what cannot be sent
        if mode != IN_WORDS or self._configured_mode(role) == IN_WORDS:
            return question
        # Others were answered before the server refused this one: in this run, or in one before.
        both = (question, await self._question(request, role, self._configured_mode(role)))
        used = [one for one in both if self._door.was_used(one.fingerprint)]
        known = used or [one for one in both if self._door.has_answer(one.fingerprint)]
        return known[0] if known else question

    async def _hash(self, question: Question) -> None:
        """Hash a long question, one a turn of the loop: of hundreds that start together none may hold up the rest."""
        async with self._hashing:
            for part in question.parts:
                if _is_long_work(part):
                    part.digest  # noqa: B018 - known from now on
                    await asyncio.sleep(0)

    async def _ask(self, question: Question, role: RoleSettings, talk: _Talk, asker: Asker) -> Reply:
        """Ask, and once more when the answer is whole and says nothing: a slip of the server, unlike a filtered one."""
        # What is at hand is had without a wait: a replay is made of nothing else.
        reply = self._door.at_hand(question, role, asker)
        if reply is None:
            asker.asks()
            reply = await self._door.fetch(question, role, asker, talk.effort)
        talk.add(question, reply)
        if not reply.text.strip() and reply.finish_reason in _UNTROUBLED:
            asker.asks()
            reply = talk.add(question, await self._door.ask(question, role, asker, talk.effort))
        return reply

    def _asked(self, request: WorkerRequest, role: RoleSettings, mode: str) -> tuple[Questions, tuple[Message, ...]]:
        """Return the messages of a request's question, and all else of it but the sample."""
        schema, messages = request.schema, request.build().messages()
        if schema is not None and mode != "json_schema":
            messages = _with_schema(messages, schema)
        return self._kind(role, schema, mode), messages

    def _configured_mode(self, role: RoleSettings) -> str:
        return self._settings.endpoints[role.endpoint].json_mode

    def _mode(self, role: RoleSettings, schema: Schema | None) -> str:
        """Return how the run asks by now for answers of a shape."""
        if schema is None:
            return ""
        return IN_WORDS if self._json_modes.in_words(role, schema) else self._configured_mode(role)

    def _kind(self, role: RoleSettings, schema: Schema | None, mode: str) -> Questions:
        """Return what is sent beside the messages; one object for all questions that send the same."""
        key = (role.name, None if schema is None else schema.canonical, mode)
        known = self._kinds.get(key)
        if known is None:
            wanted = _response_format(schema, mode) if schema is not None else {}
            known = Questions(role.endpoint, role.model, Parameters({**role.parameters, **wanted}))
            self._kinds[key] = known
        return known


def _is_long_work(part: Part) -> bool:
    return len(part.text) > LONG_CHARACTERS and not part.is_hashed


def _has_long_work(messages: tuple[Message, ...]) -> bool:
    for message in messages:
        for part in message.parts:
            if len(part.text) > LONG_CHARACTERS and not part.is_hashed:
                return True
    return False


def _response_format(schema: Schema, mode: str) -> dict[str, Any]:
    if mode == "json_schema":
        shape = {"name": schema.name, "schema": dict(schema.shown)}
        return {"response_format": {"type": "json_schema", "json_schema": shape}}
    return {"response_format": {"type": "json_object"}} if mode == "json_object" else {}


def _with_schema(messages: tuple[Message, ...], schema: Schema) -> tuple[Message, ...]:
    """Ask for the schema in words, where the server has no way to be told."""
    text = canonical_json(dict(schema.shown)).decode("utf-8")
    wanted = f"Answer with one JSON object that satisfies this JSON Schema:\n{text}"
    return (*messages[:-1], message_of(messages[-1].role, *messages[-1].parts, wanted))


def _repair(question: Question, reply: Reply, reading: Reading) -> Question:
    turn = (
        message_of("assistant", reply.text[:_REPLAYED_LENGTH]),
        message_of("user", repair_request(reading.problems)),
    )
    return Question(
        endpoint=question.endpoint,
        model=question.model,
        messages=(*question.messages, *turn),
        parameters=question.parameters,
        sample=question.sample,
    )


def _said(error: ModelError, effort: Effort) -> str:
    """Return a failure in words, with what the attempts came to where the text is cut."""
    told = effort.told()
    room = _ERROR_LENGTH - len(told) - 3
    text = f"{error.error_class}: {error}"
    return f"{text[:room]} ({told})" if told else text


def _unusable(reply: Reply) -> str:
    if reply.finish_reason == "length":
        return "truncated: the reply was cut at its token limit; raise the role's max_tokens or ask for less"
    if not reply.text.strip():
        return f"empty: the reply holds no text (finish reason {reply.finish_reason})"
    return f"unfinished: the server ended the reply with finish reason `{reply.finish_reason}`"


class _Talk:
    """Adds up what a conversation cost."""

    def __init__(self, role: RoleSettings, effort: Effort) -> None:
        self.effort = effort
        self._role = role
        self._last: Reply | None = None
        self._fingerprints: tuple[str, ...] = ()
        self._versions: tuple[int, ...] = ()
        self._all_cached = True
        self._cost = self._price = self._prompt = self._kept = self._completion = 0

    def add(self, question: Question, reply: Reply) -> Reply:
        self._last = reply
        self._fingerprints += (question.fingerprint,)
        self._versions += (reply.version or 0,)
        self._price += reply.price
        if not reply.cached:
            self._all_cached = False
            self._cost += reply.price
        usage = reply.usage
        self._prompt += usage.prompt_tokens or 0
        self._kept += usage.cached_prompt_tokens or 0
        self._completion += usage.completion_tokens or 0
        return reply

    def done(self, value: Any) -> Performed:
        return self._performed(value, None)

    def failed(self, error: str) -> Performed:
        return self._performed(None, error[:_ERROR_LENGTH])

    def _performed(self, value: Any, error: str | None) -> Performed:
        last = self._last
        return Performed(
            value=value,
            error=error,
            raw=None if last is None else last.text,
            cost=self._cost,
            full_price=self._price,
            calls=len(self._versions),
            cached=last is not None and self._all_cached,
            prompt_tokens=self._prompt,
            cached_prompt_tokens=self._kept,
            completion_tokens=self._completion,
            model=self._role.model,
            fingerprints=self._fingerprints,
            versions=self._versions,
        )
