"""What a run's kits work on, when the run is opened again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from planloom.hookspecs import hookimpl
from planloom.kits import Kit
from planloom.plugins import Registry, load_plugins
from planloom.resuming import job_of
from planloom.testing.store_samples import a_run


class Work:
    """Of a kit that works on anything, or on nothing."""

    def __init__(self, target: str) -> None:
        self.target = target

    def manifest(self) -> dict[str, Any]:
        return {}

    def digest(self) -> str:
        return self.target

    def new_run(self, *, rehearsal: bool) -> object:
        return object()


@pytest.fixture
def registry() -> Registry:
    kit = Kit(
        name="mine",
        version="1",
        summary="",
        vocabulary=lambda registry, settings: [],
        open=lambda target, options: Work(target),
    )
    return load_plugins([("mine", SimpleNamespace(register_kits=hookimpl(lambda register: register(kit))))])


@pytest.mark.parametrize(
    ("target", "work", "opened"),
    [
        pytest.param("code", {"mine": "code"}, {"mine"}, id="a target"),
        pytest.param("", {"mine": ""}, {"mine"}, id="work that needs no target"),
        pytest.param("", {}, set(), id="no work: the plan only might have come to the kit's words"),
    ],
)
def test_a_run_has_the_works_again_that_it_had(
    registry: Registry, target: str, work: dict[str, str], opened: set[str]
) -> None:
    facts = {"kits": {"mine": "1"}, "target": target, "options": {}, "text": "", "args": {}, "cap": 1, "work": work}
    job = job_of(registry, a_run(facts=facts))
    assert set(job.works) == opened
    assert {name: found.digest() for name, found in job.works.items()} == work
