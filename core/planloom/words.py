"""The core's own words: what every plan may call, whatever its kit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planlang import Call, Value, Vocabulary, Word

from ._plain_values import as_json, as_text
from ._plan_mistakes import PlanMistake
from ._schemas import check_schema, judge_schema
from ._signatures import signature_of
from ._words_tasks import task_words
from .runtime import RunHost, host_of
from .saved_plans import SavedPrograms, saved_plans
from .settings import STANDARD_ROLES
from .tokens import estimate_text_tokens
from .workers import Conversation, Schema, WorkerRequest

if TYPE_CHECKING:
    from .kits import Kit
    from .plugins import Registry
    from .settings import Settings

__all__ = ["PlanMistake", "asking_words", "build_vocabulary", "signature_of"]

_MOST_SCHEMAS, _LONG_SCHEMA = 64, 16_384
_schemas: dict[str, Schema] = {}


def build_vocabulary(registry: Registry, settings: Settings, kits: Sequence[Kit]) -> Vocabulary:
    """Return the words and values of a job: the core's and those of its kits.

    :raises PluginError: two of them have one name.
    """
    from ._errors import PluginError

    roles = dict.fromkeys(STANDARD_ROLES)
    for kit in kits:
        roles.update(dict.fromkeys(kit.roles))
    programs = SavedPrograms(saved_plans(kits, settings))
    entries = [*_core_entries(tuple(roles)), programs.word()]
    for kit in kits:
        entries.extend(kit.vocabulary(registry, settings))
    try:
        programs.vocabulary = Vocabulary(entries)
    except ValueError as error:
        raise PluginError(f"the kits {', '.join(k.name for k in kits)} cannot be used together: {error}") from error
    return programs.vocabulary


def asking_words(registry: Registry, settings: Settings, kits: Sequence[Kit]) -> dict[str, tuple[str, ...]]:
    """Return for each role the words that ask it where a plan says nothing else."""
    asking: dict[str, list[str]] = {}
    for word in build_vocabulary(registry, settings, kits).words.values():
        model = word.signature.parameters.get("model")
        if word.spends and model is not None and isinstance(model.default, str):
            asking.setdefault(model.default, []).append(word.name)
    return {role: tuple(sorted(names)) for role, names in asking.items()}


def _core_entries(roles: tuple[str, ...]) -> list[Word | Value]:
    return [
        Word(
            "agent",
            _agent,
            signature=signature_of(_agent_shape),
            doc="one worker; its text, or a value that fits the JSON Schema `schema`; None when it failed",
            spends=True,
            suspends=True,
            choices={"model": roles},
            choice_nouns={"model": "model role"},
            aliases={"role": "model"},
            judges={"schema": judge_schema},
        ),
        *task_words(),
        Word("phase", _phase, signature=signature_of(_phase_shape), doc="names the part of the plan that begins here"),
        Word("log", _log, signature=signature_of(_log_shape), doc="says something to the person who watches"),
        Word("budget", _budget, signature=signature_of(_budget_shape), doc="credits that are left, as a float"),
        Word("to_json", _to_json, signature=signature_of(_to_json_shape), doc="the value as JSON text"),
        Value("args", doc="the plan's arguments, a dict", make=_args),
        Value("MODELS", doc="the model roles, sorted", make=lambda host: sorted(roles)),
    ]


# The shapes are what plans see; the functions below them take the call's place as well.


def _agent_shape(
    prompt: str,
    schema: dict | None = None,  # type: ignore[type-arg]  # as a plan may write it
    model: str = "worker",
    label: str = "",
    system: str = "",
    data: Any = None,
    sample: int = 0,
    phase: str | None = None,
) -> None: ...


def _phase_shape(title: str | None) -> None: ...


def _log_shape(message: Any) -> None: ...


def _budget_shape() -> None: ...


def _to_json_shape(value: Any) -> None: ...


def _agent(
    call: Call,
    prompt: str,
    schema: Mapping[str, Any] | None = None,
    model: str = "worker",
    label: str = "",
    system: str = "",
    data: Any = None,
    sample: int = 0,
    phase: str | None = None,
) -> Any:
    shown = "" if data is None else data if isinstance(data, str) else as_json(data)
    if not prompt and not shown:
        raise ValueError("agent() needs a prompt or data; got neither")
    # Not by calling the class, which puts the names into a dictionary and takes twice as long.
    request = object.__new__(WorkerRequest)
    WorkerRequest.__init__(
        request,
        word="agent",
        identity=(prompt, system, shown, dict(schema) if schema else None),
        role=model,
        label=label,
        build=lambda: Conversation(system=(system,), prompt=prompt, data=(shown,)),
        input_tokens=estimate_text_tokens(len(prompt) + len(system) + len(shown)),
        system=system,
        schema=_schema(schema),
        sample=sample,
        phase=phase,
    )
    return host_of(call).begin(call, request)


def _schema(schema: Mapping[str, Any] | None) -> Schema | None:
    """Return what judges answers by a plan's schema; one for all workers that are given the same.

    To check a schema, to bring it into its canonical form and to make what judges by it takes ten times as long as all
    else that a known worker does. A plan's value is plain data, whose ``repr`` says all of it, types included.
    """
    if schema is None:
        return None
    written = repr(schema)
    known = _schemas.get(written)
    if known is None:
        check_schema(schema)
        known = Schema(name="answer", shown=schema)
        if len(written) < _LONG_SCHEMA:
            if len(_schemas) >= _MOST_SCHEMAS:
                _schemas.clear()
            _schemas[written] = known
    return known


def _phase(call: Call, title: str | None) -> None:
    host_of(call).phase(call, title)


def _log(call: Call, message: Any) -> None:
    host_of(call).log(as_text(message))


def _budget(call: Call) -> float:
    return host_of(call).budget(call)


def _to_json(call: Call, value: Any) -> str:
    return as_json(value)


def _args(host: object) -> dict[str, Any]:
    assert isinstance(host, RunHost)
    return dict(host.args)
