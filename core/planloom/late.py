"""Parts of a package that are imported when they are first asked for.

Every command loads every plugin, so what a plugin imports, all commands wait for. A plugin therefore registers small
objects and offers the rest of its package through :func:`late_names` and ``planloom.cli.late_command``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["late_names"]


def late_names(package: str, parts: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__``, which imports the module that holds a name when the name is first read.

    Import the same names under ``if TYPE_CHECKING`` for readers of types.

    :param package: the package's ``__name__``.
    :param parts: names that the package re-exports, by the module of the package that holds them.
    """
    module_of = {name: module for module, names in parts.items() for name in names}

    def read(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return read
