"""A model inside the process that answers at once, so that all that is measured is planloom's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from tests.bench.many_kit import MANY

from planloom.clients import ClientPlugin, Endpoint
from planloom.hookspecs import hookimpl
from planloom.kits import Kit
from planloom.listeners import Listener
from planloom.money import MICRO, Price, Usage
from planloom.plugins import Registry, load_plugins
from planloom.questions import Question, Reply
from planloom.settings import STANDARD_ROLES, RoleSettings, Settings

__all__ = ["ANSWER", "QuickModel", "quick_registry", "quick_settings"]

ANSWER = "an answer of some words, as short ones are, and nothing more than that"


class QuickModel:
    """Answers at once."""

    async def ask(self, question: Question, *, began: Callable[[], None] | None = None) -> Reply:
        """Answer."""
        if began is not None:
            began()
        return Reply(
            text=ANSWER,
            finish_reason="stop",
            usage=Usage(prompt_tokens=20, completion_tokens=12),
            seconds=0.0,
            model=question.model,
        )

    async def close(self) -> None:
        """Hold nothing."""


def quick_registry(*listeners: Listener) -> Registry:
    """Return the installed plugins, the quick model, the kit that asks much, and these listeners."""

    @hookimpl
    def register_clients(register: Callable[[ClientPlugin], None]) -> None:
        register(ClientPlugin(name="quick", summary="answers at once", open=lambda endpoint: QuickModel()))

    @hookimpl
    def register_listeners(register: Callable[[Listener], None]) -> None:
        for listener in listeners:
            register(listener)

    @hookimpl
    def register_kits(register: Callable[[Kit], None]) -> None:
        register(MANY)

    plugin = SimpleNamespace(
        register_clients=register_clients, register_listeners=register_listeners, register_kits=register_kits
    )
    return load_plugins([("quick", plugin)])


def quick_settings(store: Path, workers: int, in_flight: int) -> Settings:
    """Return settings with every role played by the quick model, at a thousandth of a credit a call."""
    roles = {
        name: RoleSettings(
            name=name, endpoint="main", model="m", price=Price(call=MICRO // 1000), parameters={"max_tokens": 100}
        )
        for name in STANDARD_ROLES
    }
    return Settings(
        store_path=str(store),
        endpoints={"main": Endpoint(name="main", client="quick")},
        roles=roles,
        workers=workers,
        in_flight=in_flight,
        bare_in_flight=in_flight,
    )
