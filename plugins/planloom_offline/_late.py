"""Checks that are imported when they run: every command knows the rules by name, only an offline audit runs one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from planloom.data_classes import frozen


@frozen
class Late:
    """A function of one of this package's modules, by name; can be sent to another process."""

    module: str
    function: str = "check"

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        return getattr(import_module(f"{__package__}.{self.module}"), self.function)(*arguments)
