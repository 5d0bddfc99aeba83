"""What the core's public modules offer is what they say that they offer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import planloom

PACKAGES = (
    "planloom",
    "planloom_anthropic",
    "planloom_audit",
    "planloom_bench",
    "planloom_code",
    "planloom_offline",
    "planloom_openai",
    "planloom_sqlite",
)
PUBLIC = [
    module.name
    for module in walk_packages(planloom.__path__, "planloom.")
    if not any(part.startswith("_") for part in module.name.split("."))
]


def taken_from_core() -> Iterator[tuple[str, str]]:
    """Yield module and name of everything that one of our modules imports from another of the core's."""
    for package in PACKAGES:
        folder = Path(import_module(package).__path__[0])
        for path in folder.rglob("*.py"):
            inside = (package, *path.relative_to(folder).parent.parts)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom):
                    above = inside[: len(inside) - node.level + 1] if node.level else ()
                    module = ".".join((*above, *([node.module] if node.module else [])))
                    yield from ((module, alias.name) for alias in node.names)


TAKEN = set(taken_from_core())


@pytest.mark.parametrize("name", PUBLIC)
def test_what_others_take_from_a_public_module_is_on_its_list_and_there(name: str) -> None:
    module = import_module(name)
    offered = set(getattr(module, "__all__", ()))
    assert {
        wanted for source, wanted in TAKEN if source == name and f"{name}.{wanted}" not in PUBLIC
    } - offered == set()
    assert {one for one in offered if not hasattr(module, one)} == set()
