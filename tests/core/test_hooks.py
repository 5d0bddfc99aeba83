"""Hooks: what each takes, and what is told of a plugin that uses one wrongly."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import click
import pytest
from click.testing import CliRunner

from planlang import Word
from planloom import DuplicateNameError, PluginError, UnknownNameError
from planloom._recorder import Recorder
from planloom._room import Room
from planloom.clients import ClientPlugin, Endpoint
from planloom.exporters import Exporter
from planloom.gates import Decision, Gate
from planloom.hookspecs import hookimpl, hookspec
from planloom.jobs import decide, fact_sheet
from planloom.kits import Kit
from planloom.listeners import Listener
from planloom.plugins import Kind, Registry, load_plugins
from planloom.rehearsal import Rehearsal, stand_in_answer
from planloom.scouts import Scout, ScoutReport
from planloom.settings import GateSettings, Settings
from planloom.stand_ins import StandIn, StandInAnswer
from planloom.stores import StorePlugin
from planloom.words import build_vocabulary, signature_of
from planloom.workers import Conversation, WorkerRequest
from planloom_audit import Lens, Skeptic
from planloom_offline import Hit, ParsedFile, Rule

TESTS = Path(__file__).parents[1]


def plugin(hook: str, *things: object) -> object:
    """Return a plugin that registers things by one hook."""

    def implementation(register: Callable[..., None]) -> None:
        for thing in things:
            register(thing)

    return SimpleNamespace(**{hook: hookimpl(implementation)})


def loaded(hook: str, *things: object) -> Registry:
    return load_plugins([("mine", plugin(hook, *things))])


def _shape(text: str) -> None: ...


def a_kit(name: str = "mine", word: str = "shout") -> Kit:
    spoken = Word(word, lambda call, text: text.upper(), signature=signature_of(_shape), doc="the text, louder")

    class Work:
        def manifest(self) -> dict[str, Any]:
            return {}

        def digest(self) -> str:
            return ""

        def new_run(self, *, rehearsal: bool) -> object:
            return object()

    return Kit(
        name=name, version="1", summary="", vocabulary=lambda registry, settings: [spoken], open=lambda *_: Work()
    )


def never_opened(*_: object) -> Any:
    raise AssertionError("a registered thing is opened when it is used")


def a_request(word: str = "shout") -> WorkerRequest:
    return WorkerRequest(word=word, identity=("x",), role="worker", label="", build=Conversation, input_tokens=1)


REHEARSAL = Rehearsal(
    agents=1, calls=1, tokens=1, seconds=1, credits_p10=1, credits_p50=1, credits_p90=1, phases={}, roles={}, takes=1
)


# --- one test a hook of the core


def test_hook_register_hookspecs_makes_a_hook_that_other_plugins_can_implement() -> None:
    @attrs.frozen
    class Spice:
        name: str

    class Specs:
        @hookspec
        def register_spices(self, register: Callable[[Spice], None]) -> None:
            """Offer spices."""

    def register_hookspecs(register: Callable[..., None]) -> None:
        register(Specs(), (Kind("register_spices", "spice", lambda: Spice),))

    maker = SimpleNamespace(register_hookspecs=hookimpl(register_hookspecs))
    registry = load_plugins([("user", plugin("register_spices", Spice("salt"))), ("maker", maker)])
    assert registry.get("spice", "salt", Spice) == Spice("salt")


@pytest.mark.parametrize(("hook", "noun"), [("register_spices", "herb"), ("register_herbs", "spice")])
def test_a_hook_or_a_kind_of_thing_that_two_plugins_bring_is_refused_naming_both(hook: str, noun: str) -> None:
    def bringing(name: str, kind: str) -> SimpleNamespace:
        def spec(register: Callable[[object], None]) -> None:
            """Offer things."""

        specs = SimpleNamespace(**{name: hookspec(spec)})
        brings = lambda register: register(specs, (Kind(name, kind, lambda: object),))  # noqa: E731 - a hook of one line
        return SimpleNamespace(register_hookspecs=hookimpl(brings))

    with pytest.raises(DuplicateNameError) as caught:
        load_plugins([("grocer", bringing("register_spices", "spice")), ("gardener", bringing(hook, noun))])
    assert set(caught.value.plugins) == {"grocer", "gardener"}


def test_hook_register_kits_makes_words_that_a_plan_can_call() -> None:
    kit = a_kit()
    registry = loaded("register_kits", kit)
    assert "shout" in build_vocabulary(registry, Settings(), [registry.get("kit", "mine", Kit)])


def test_hook_register_clients_makes_a_client_that_an_endpoint_can_name(tmp_path: Path) -> None:
    from planloom.configuration import load_settings

    registry = loaded("register_clients", ClientPlugin(name="mine", summary="", open=never_opened, settings=("voice",)))
    (tmp_path / "planloom.toml").write_text('[endpoints.e]\nclient = "mine"\nvoice = "low"\n')
    endpoint = load_settings(registry, folder=tmp_path, environ={}).endpoints["e"]
    assert endpoint == Endpoint(name="e", client="mine", settings={"voice": "low"})


def test_hook_register_stores_makes_a_store_that_configuration_can_name() -> None:
    kind = StorePlugin(name="mine", summary="", open=never_opened)
    assert loaded("register_stores", kind).get("store", "mine", StorePlugin) is kind


def test_hook_register_exporters_makes_a_form_of_a_kits_report() -> None:
    form = Exporter(name="mine", kit="audit", file_name="x.txt", export=str)
    assert "mine" in loaded("register_exporters", form).names("exporter")


def test_hook_register_stand_ins_answers_a_kits_word_in_a_rehearsal() -> None:
    answer = StandInAnswer(value="A", completion_tokens=1)
    mine = StandIn(name="mine", words=("shout",), answer=lambda request, state, rng: answer)
    found = loaded("register_stand_ins", mine).get("stand-in", "mine", StandIn)
    assert stand_in_answer(found, a_request(), None, 0) is answer


def test_hook_register_scouts_adds_a_section_to_the_fact_sheet() -> None:
    scout = Scout(name="mine", kit="mine", report=lambda work: ScoutReport(heading="THE SEA", lines=("it is calm",)))
    registry = loaded("register_scouts", scout)
    sheet = fact_sheet(registry, Settings(), {"mine": a_kit().open("", {})}, 1)
    assert sheet.startswith("THE SEA\nit is calm\n")


def test_hook_register_gates_makes_a_policy_that_configuration_can_name() -> None:
    never = Gate(name="never", summary="", decide=lambda *_: Decision(verdict="refused", reason="never"))
    settings = Settings(gate=GateSettings(policy="never"))
    assert decide(loaded("register_gates", never), settings, REHEARSAL, Room(job=100)).verdict == "refused"


def test_hook_register_listeners_hears_every_event_of_a_run() -> None:
    heard: list[tuple[str, int, str]] = []
    mine = Listener(name="mine", on_event=lambda run, event: heard.append((run, event.seq, event.type)))
    listeners = loaded("register_listeners", mine).all("listener", Listener).values()
    recorder = Recorder("r", None, listeners, lambda: 0.0)
    recorder.emit("run.log", {"message": "one"})
    recorder.emit("run.log", {"message": "two"})
    assert heard == [("r", 1, "run.log"), ("r", 2, "run.log")]


def test_hook_register_commands_makes_a_command_of_planloom() -> None:
    @click.command()
    def greet() -> None:
        click.echo("hello")

    found = loaded("register_commands", greet).get("command", "greet", click.Command)
    assert CliRunner().invoke(found).output == "hello\n"


def _all_hooks() -> list[str]:
    return sorted(name for name in vars(load_plugins().manager.hook) if name.startswith("register_"))


def test_every_hook_has_a_test_of_its_own() -> None:
    tested = set()
    for file in TESTS.rglob("test_*.py"):
        tested |= set(re.findall(r"def test_hook_(register_[a-z]+(?:_[a-z]+)*)", file.read_text(encoding="utf-8")))
    missing = [hook for hook in _all_hooks() if not any(name.startswith(hook) for name in tested)]
    assert missing == [], f"write a test named test_hook_{missing[0]}_..."


@pytest.mark.parametrize("hook", _all_hooks())
def test_every_hook_says_what_to_register(hook: str) -> None:
    spec = getattr(load_plugins().manager.hook, hook).spec
    assert ":param register:" in (inspect.getdoc(spec.function) or "")
    assert "Since hook API" in (inspect.getdoc(spec.function) or "")


# --- what goes wrong


def test_a_name_that_two_plugins_bring_is_refused_naming_both() -> None:
    with pytest.raises(DuplicateNameError, match=r"two plugins bring a kit named `mine`: one and two; uninstall"):
        load_plugins([("one", plugin("register_kits", a_kit())), ("two", plugin("register_kits", a_kit()))])


def test_a_name_that_a_plugin_of_ours_has_is_refused_too() -> None:
    with pytest.raises(DuplicateNameError, match="a kit named `audit`: audit and mine"):
        loaded("register_kits", a_kit("audit"))


def test_two_plugins_of_one_name_are_refused() -> None:
    with pytest.raises(DuplicateNameError, match="a plugin named `audit`"):
        load_plugins([("audit", plugin("register_kits", a_kit()))])


def test_a_misspelled_hook_is_refused_and_named() -> None:
    with pytest.raises(PluginError, match=r"register_kit.*check the hook's spelling"):
        loaded("register_kit", a_kit())


def test_a_hook_with_another_argument_is_refused() -> None:
    def register_kits(registrar: object) -> None: ...

    with pytest.raises(PluginError, match=r"plugin mine does not fit its hook.*registrar"):
        load_plugins([("mine", SimpleNamespace(register_kits=hookimpl(register_kits)))])


def test_a_plugin_that_raises_in_a_hook_is_named_with_the_hook() -> None:
    def register_kits(register: object) -> None:
        raise KeyError("oops")

    broken = SimpleNamespace(register_kits=hookimpl(register_kits))
    with pytest.raises(PluginError, match=r"plugin mine failed in register_kits: KeyError: 'oops'") as caught:
        load_plugins([("mine", broken)])
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_thing_of_another_class_is_refused() -> None:
    with pytest.raises(PluginError, match="plugin mine gave register_kits a str, where a Kit belongs"):
        loaded("register_kits", "a kit")


def test_two_kits_with_one_word_cannot_be_used_together() -> None:
    registry = loaded("register_kits", a_kit("one"), a_kit("two"))
    kits = [registry.get("kit", name, Kit) for name in ("one", "two")]
    with pytest.raises(PluginError, match="the kits one, two cannot be used together: two words are named `shout`"):
        build_vocabulary(registry, Settings(), kits)


def test_a_name_that_nothing_has_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="no kit is named `audti`; did you mean `audit`"):
        load_plugins().get("kit", "audti", Kit)


def test_a_listener_that_raises_is_dropped_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[int] = []

    def fail(run: str, event: object) -> None:
        raise ValueError("deaf")

    async def play() -> None:
        listeners = [
            Listener(name="bad", on_event=fail),
            Listener(name="good", on_event=lambda run, event: heard.append(event.seq)),
        ]
        recorder = Recorder("r", None, listeners, lambda: 0.0)
        for _ in range(3):
            recorder.emit("run.log", {"message": "x"})

    asyncio.run(play())
    assert heard == [1, 2, 3]
    assert [record.getMessage() for record in caplog.records] == [
        "listener bad failed and hears no more events of run r"
    ]


# --- hooks that plugins bring


def _never(file: ParsedFile) -> list[Hit]:
    return []


def test_hook_register_rules_adds_a_rule_to_the_offline_analyst() -> None:
    rule = Rule(name="never", lens="logic", title="Never", severity="low", check=_never)
    assert loaded("register_rules", rule).get("offline rule", "never", Rule) is rule


def test_hook_register_lenses_adds_a_lens_that_scans_can_name() -> None:
    registry = loaded("register_lenses", Lens("units", "Look for seconds taken for milliseconds."))
    scan = build_vocabulary(registry, Settings(), [registry.get("kit", "audit", Kit)]).words["scan"]
    assert "units" in scan.choices["lens"]


def test_hook_register_skeptics_adds_a_skeptic_that_checks_can_name() -> None:
    registry = loaded("register_skeptics", Skeptic("pedant", "Doubt everything."))
    check = build_vocabulary(registry, Settings(), [registry.get("kit", "audit", Kit)]).words["check"]
    assert "pedant" in check.choices["skeptic"]
