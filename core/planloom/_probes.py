"""What a doctor asks of an endpoint, and what the answers say about it.

One plain question comes first: whether it is reached, how fast, what it counts, whether it thinks aloud. Then one for
each way that an answer's form can be asked for, and one with streaming the other way round. The shape that is asked for
holds a key that no question mentions, so that only a server which heeds the shape can answer with it. All of them go
through the front door, against a budget of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from ._abort import Abort
from ._budget_line import BudgetLine
from ._call import EventSink
from ._disk import Disk
from ._errors import PlanloomError, RunStopped
from ._pauses import Pauses
from ._structured import read_answer, without_thinking
from .clients import ClientPlugin, Endpoint, ModelClient, ModelError, PermanentError, TransientError
from .data_classes import frozen
from .front_door import Asker, FrontDoor
from .loom import Loom
from .questions import Question, Reply, message_of
from .settings import RoleSettings
from .workers import Schema

__all__ = ["MOST_TOKENS", "UNKNOWN", "WORKS", "Examined", "Probe", "Target", "examine", "probes_of", "worst_of"]

MOST_TOKENS = 1_000  # room for a model that thinks before it says one word
WORKS = "works"
IGNORED = "ignored: the answer has another shape"
UNKNOWN = "not known"

_ANSWER = "Answer with the single word: ready"
_PRIME = "Is 7 a prime number?"
_PRIME_AS_JSON = "Is 7 a prime number? Answer with a JSON object that has one key, `prime`, true or false."
_UNMENTIONED = Schema(
    name="doctor",
    shown={
        "type": "object",
        "properties": {"prime": {"type": "boolean"}, "next_prime": {"type": "integer"}},
        "required": ["prime", "next_prime"],
        "additionalProperties": False,
    },
)
_MENTIONED = Schema(
    name="doctor", shown={"type": "object", "properties": {"prime": {"type": "boolean"}}, "required": ["prime"]}
)


@frozen(kw_only=True)
class Target:
    """One model at one endpoint, and the roles that it plays.

    :ivar role: the first of them, whose parameters and price are used.
    """

    endpoint: Endpoint
    plugin: ClientPlugin
    role: RoleSettings
    roles: tuple[str, ...]


@frozen(kw_only=True)
class Probe:
    """One question to a target.

    :ivar about: what it finds out: ``answer``, a JSON mode, ``streamed`` or ``whole``.
    :ivar endpoint: the target's, or with another setting.
    """

    about: str
    endpoint: Endpoint
    question: Question

    @property
    def most_tokens(self) -> int:
        """The longest answer it may get."""
        return int(self.question.parameters["max_tokens"])


@frozen(kw_only=True)
class Examined:
    """What was found out about a target.

    :ivar error: why it gave no answer; then nothing else is known.
    :ivar model: as the server named it. :ivar counts: the counts that it sent.
    :ivar unfinished: why the answer to the plain question was not whole, empty where it was; then no other is asked.
    :ivar thinking: how it thinks before it answers, empty where it does not seem to.
    :ivar json_modes: for each way to ask for JSON, ``works``, why not, or that it is ``not known`` and why.
    :ivar streaming: the same for both ways to send an answer, ``streamed`` and ``whole``.
    """

    target: Target
    error: PlanloomError | None = None
    seconds: float = 0.0
    model: str = ""
    counts: Mapping[str, int] = attrs.field(factory=dict)
    unfinished: str = ""
    thinking: str = ""
    json_modes: Mapping[str, str] = attrs.field(factory=dict)
    streaming: Mapping[str, str] = attrs.field(factory=dict)


def probes_of(target: Target) -> tuple[Probe, ...]:
    """Return the questions to ask, the plain one first."""
    probes = [_probe(target, "answer", _ANSWER)]
    if "json_schema" in target.plugin.json_modes:
        shape = {"name": _UNMENTIONED.name, "schema": dict(_UNMENTIONED.shown)}
        wanted = {"type": "json_schema", "json_schema": shape}
        probes.append(_probe(target, "json_schema", _PRIME, response_format=wanted))
    if "json_object" in target.plugin.json_modes:
        probes.append(_probe(target, "json_object", _PRIME_AS_JSON, response_format={"type": "json_object"}))
    if "stream" in target.plugin.settings:
        streams = not _streams(target)
        other = attrs.evolve(target.endpoint, settings={**target.endpoint.settings, "stream": streams})
        about = "streamed" if streams else "whole"
        probes.append(attrs.evolve(_probe(target, about, f"{_ANSWER}, once more"), endpoint=other))
    return tuple(probes)


def _streams(target: Target) -> bool:
    return bool(target.endpoint.settings.get("stream", target.plugin.streams))


def _probe(target: Target, about: str, text: str, **parameters: Any) -> Probe:
    role = target.role
    most = min(MOST_TOKENS, int(role.parameters.get("max_tokens", MOST_TOKENS)))
    question = Question(
        endpoint=role.endpoint,
        model=role.model,
        messages=(message_of("user", text),),
        parameters={**role.parameters, "max_tokens": most, **parameters},
    )
    return Probe(about=about, endpoint=target.endpoint, question=question)


def worst_of(target: Target) -> int:
    """Return what asking a target may cost at most, in micro-credits."""
    price = target.role.price
    return sum(price.of(probe.question.input_tokens_bound, probe.most_tokens) for probe in probes_of(target))


async def examine(loom: Loom, budget: str, target: Target) -> Examined:
    """Ask a target what there is to ask; when the plain question brings no whole answer, no other is asked."""
    plain, *others = probes_of(target)
    reply = await _ask(loom, budget, target, plain)
    if isinstance(reply, PlanloomError):
        return Examined(target=target, error=reply)
    if not reply.whole:
        others = []
    said = {probe.about: _verdict(probe, await _ask(loom, budget, target, probe)) for probe in others}
    streaming: dict[str, str] = {about: said[about] for about in ("streamed", "whole") if about in said}
    if reply.whole and streaming:
        streaming["streamed" if _streams(target) else "whole"] = WORKS
    return Examined(
        target=target,
        seconds=reply.seconds,
        model=reply.model,
        counts={name: count for name, count in attrs.asdict(reply.usage).items() if count is not None},
        unfinished="" if reply.whole else f"{reply.finish_reason or 'none said'}",
        thinking=_thinking(reply),
        json_modes={about: said[about] for about in ("json_schema", "json_object") if about in said},
        streaming=streaming,
    )


class _AskedOnce:
    """A client that is not asked again where nothing answers the connection: whoever waits wants to hear just that."""

    def __init__(self, client: ModelClient) -> None:
        self._client = client
        self.close = client.close

    async def ask(self, question: Question, *, began: Callable[[], None] | None = None) -> Reply:
        try:
            return await self._client.ask(question, began=began)
        except TransientError as error:
            if error.error_class != "transport" or error.maybe_billed:
                raise
            raise ModelError(str(error), error_class=error.error_class) from error


async def _ask(loom: Loom, budget: str, target: Target, probe: Probe) -> Reply | PlanloomError:
    """Ask through a door of its own, since a fault that ends a run shuts its door."""
    try:
        client = _AskedOnce(target.plugin.open(probe.endpoint))
    except PlanloomError as error:
        return error
    attempts: list[Mapping[str, Any]] = []
    door = _door(loom, budget, client, lambda kind, fields: attempts.append(fields) if kind == "run.attempt" else None)
    asker = Asker(run="doctor", thread=probe.about, started=lambda: None)
    role = attrs.evolve(target.role, parameters=probe.question.parameters)
    try:
        return await door.ask(probe.question, role, asker)
    except RunStopped as error:
        return error if attempts and attempts[-1]["class"] == "quota" else _out_of_money(attempts)
    except PlanloomError as error:
        return error
    finally:
        await client.close()


def _out_of_money(attempts: list[Mapping[str, Any]]) -> RunStopped:
    """Return why a target was not asked any further, in the words of a check: it has no cap to raise."""
    failed = f"{len(attempts)} attempts failed (`{attempts[-1]['class']}`) and " if attempts else ""
    return RunStopped(f"{failed}what the server may have billed without an answer has used up what this check may cost")


def _door(loom: Loom, budget: str, client: ModelClient, emit: EventSink) -> FrontDoor:
    abort, pauses = Abort(), Pauses(lambda at: None)
    disk = Disk(abort, pauses, lambda *_: None, waits=False)
    line = BudgetLine(loom.store, budget, on_cap="stop", abort=abort, emit=lambda *_: None, pauses=pauses, disk=disk)
    return FrontDoor(
        loom.store,
        client_of=lambda name: client,
        line=line,
        lane_of=loom.lanes.of,
        in_flight=1,
        abort=abort,
        emit=emit,
        pauses=pauses,
        disk=disk,
        mode="refresh",  # an answer of another day says nothing about today
        at_quota="stop",
    )


def _verdict(probe: Probe, reply: Reply | PlanloomError) -> str:
    if isinstance(reply, PermanentError):
        return f"refused: {reply}"
    if isinstance(reply, PlanloomError):
        return f"{UNKNOWN}: {reply}"
    if not reply.whole:
        return f"{UNKNOWN}: no whole answer (finish reason {reply.finish_reason})"
    if probe.about == "json_schema":
        return WORKS if read_answer(reply.text, _UNMENTIONED).ok else IGNORED
    if probe.about == "json_object":
        bare = reply.text.strip().startswith("{")
        return WORKS if bare and read_answer(reply.text, _MENTIONED).ok else IGNORED
    return WORKS


def _thinking(reply: Reply) -> str:
    usage = reply.usage
    if usage.reasoning_tokens:
        return f"{usage.reasoning_tokens} tokens"
    if without_thinking(reply.text).strip() != reply.text.strip():
        return "in its text, which is taken out"
    # A token covers a byte at least, so that what is beyond that was never shown.
    if (usage.completion_tokens or 0) > len(reply.text.encode()) + 8:
        return f"{usage.completion_tokens} tokens for {len(reply.text)} characters"
    return ""
