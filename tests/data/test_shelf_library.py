"""The shelf is a sound library: its own examples describe it and all of them pass."""

import doctest
import importlib
from pathlib import Path
from types import ModuleType

import pytest

import planloom_data

LIBRARY = planloom_data.shelf_library()
MODULES = sorted(path for path in LIBRARY.rglob("*.py") if path.name != "__init__.py")


def load(path: Path) -> ModuleType:
    parts = path.relative_to(LIBRARY).with_suffix("").parts
    return importlib.import_module(".".join(("planloom_data.shelf.library", *parts)))


def name_of(path: Path) -> str:
    return path.relative_to(LIBRARY).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_example_of_a_module_passes(path: Path) -> None:
    assert doctest.testmod(load(path)).failed == 0


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_has_enough_examples_to_prove_a_bug_with(path: Path) -> None:
    assert doctest.testmod(load(path)).attempted >= 6


def test_the_shelf_is_small_enough_to_read_and_large_enough_to_search() -> None:
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES)
    assert len(MODULES) >= 20
    assert 2_000 <= lines <= 4_000


def test_a_schema_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        planloom_data.schema("no_such_schema")
