"""A kit that translates texts, and a lens, a skeptic, a client and a report form beside it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from planlang import Call, Value, Word
from planloom.clients import ClientPlugin, Endpoint, ModelClient
from planloom.exporters import Exporter
from planloom.hookspecs import hookimpl
from planloom.kits import Kit, KitWork
from planloom.money import Usage
from planloom.plugins import Registry
from planloom.questions import Question, Reply
from planloom.runtime import host_of
from planloom.settings import Settings
from planloom.stand_ins import StandIn, StandInAnswer
from planloom.words import signature_of
from planloom.workers import Conversation, WorkerRequest
from planloom_audit import AuditReport, Lens, Skeptic

__all__ = ["KIT", "Parrot"]


def _translate_shape(text: str, language: str = "French") -> None: ...


async def _translate(call: Call, text: str, language: str = "French") -> Any:
    request = WorkerRequest(
        word="translate",
        identity=(text, language),
        role="worker",
        label=f"translate:{language}",
        build=lambda: Conversation(system=(f"Translate into {language}.",), prompt=text),
        input_tokens=len(text) // 4,
    )
    return await host_of(call).work(call, request)


def _vocabulary(registry: Registry, settings: Settings) -> Sequence[Word | Value]:
    signature = signature_of(_translate_shape)
    word = Word(
        "translate", _translate, signature=signature, doc="the text in another language", spends=True, suspends=True
    )
    return [word, Value("LANGUAGES", doc="languages there are", make=lambda host: ["French", "Dutch"])]


class _Texts:
    """The work of a translation: the folder that was named, nothing read."""

    def __init__(self, target: str) -> None:
        self._target = target

    def manifest(self) -> Mapping[str, Any]:
        """Return where the texts are."""
        return {"target": self._target}

    def digest(self) -> str:
        """Return where the texts are: a plan sees no more of them."""
        return self._target

    def new_run(self, *, rehearsal: bool) -> object:
        """Return nothing to remember."""
        return object()


def _open(target: str, options: Mapping[str, Any]) -> KitWork:
    return _Texts(target)


KIT = Kit(name="translate", version="0.3.1", summary="translates texts", vocabulary=_vocabulary, open=_open)


class Parrot:
    """A client that says every question again."""

    async def ask(self, question: Question, *, began: Callable[[], None] | None = None) -> Reply:
        """Return the question's last message as its answer."""
        text = question.messages[-1].text
        usage = Usage(prompt_tokens=1, completion_tokens=1)
        if began is not None:
            began()
        return Reply(text=f"squawk: {text}", finish_reason="stop", usage=usage, seconds=0.0, model="parrot-1")

    async def close(self) -> None:
        """Let go of nothing."""


def _open_parrot(endpoint: Endpoint) -> ModelClient:
    return Parrot()


def _answer(request: WorkerRequest, state: object, rng: random.Random) -> StandInAnswer:
    return StandInAnswer(value=f"translation {rng.randrange(100)}", completion_tokens=20)


def _lines(report: AuditReport) -> str:
    return "".join(f"{bug.file}:{bug.line}\n" for bug in report.bugs)


@hookimpl
def register_kits(register: Callable[[Kit], None]) -> None:
    """Offer the kit."""
    register(KIT)


@hookimpl
def register_stand_ins(register: Callable[[StandIn], None]) -> None:
    """Offer what answers the kit's word in a rehearsal."""
    register(StandIn(name="translate", words=("translate",), answer=_answer))


@hookimpl
def register_clients(register: Callable[[ClientPlugin], None]) -> None:
    """Offer the parrot."""
    register(ClientPlugin(name="parrot", summary="says it again", open=_open_parrot, free=True))


@hookimpl
def register_exporters(register: Callable[[Exporter], None]) -> None:
    """Offer a report of the audit kit with one line a bug."""
    register(Exporter(name="audit-lines", kit="audit", file_name="findings.txt", export=_lines))


@hookimpl
def register_lenses(register: Callable[[Lens], None]) -> None:
    """Offer a lens to the audit kit."""
    register(Lens("units", "Look for seconds that are taken for milliseconds."))


@hookimpl
def register_skeptics(register: Callable[[Skeptic], None]) -> None:
    """Offer a skeptic to the audit kit."""
    register(Skeptic("pedant", "Doubt every report. Answer with JSON."))
