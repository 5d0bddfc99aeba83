"""The values of a configuration file: each is there, of its kind and within its bounds, or a fault names it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ._errors import ConfigurationError, did_you_mean
from .money import micro_of

__all__ = ["ConfiguredValues"]

# A billion credits, workers or seconds is a slip of the hand, and what lies far beyond it has no exact form in JSON.
_MOST = 1_000_000_000
_LONGEST_SHOWN = 60


class ConfiguredValues:
    """Reads values of one document; every fault names the file, the key and what to write.

    Its methods raise :class:`planloom.ConfigurationError`; ``where`` is the name of the table that holds the key.
    """

    def __init__(self, source: Path) -> None:
        self.source = source

    def fault(self, key: str, what: str, advice: str) -> ConfigurationError:
        """Return what to raise over a key."""
        return ConfigurationError(f"{self.source}: {key} {what}; {advice}")

    def refuse_unknown(self, table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
        """Raise over the first key of a table that is none of these."""
        for key in table:
            if key not in known:
                name = f"{where}.{key}" if where else key
                raise self.fault(name, "is not a setting", did_you_mean(key, known))

    def table(self, table: Mapping[str, Any], key: str, where: str = "") -> dict[str, Any]:
        """Return a table in a table, empty where there is none."""
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self.fault(f"{where}{key}", f"is {value!r}", "it must be a table")
        return value

    def value(
        self, table: Mapping[str, Any], key: str, where: str, default: Any, fits: Callable[[Any], bool], wanted: str
    ) -> Any:
        """Return a value that fits, or the default; without a default the key must be there."""
        if key not in table:
            if default is None:
                raise self.fault(f"{where}.{key}", "is missing", f"add it: {wanted}")
            return default
        value = table[key]
        if not fits(value):
            shown = repr(value)
            shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"
            raise self.fault(f"{where}.{key}", f"is {shown}", f"write {wanted}")
        return value

    def text(self, table: Mapping[str, Any], key: str, where: str, default: str | None = None) -> str:
        """Return a text; only one that may be left out may be empty."""

        def fits(value: Any) -> bool:
            return isinstance(value, str) and "\0" not in value and bool(value or default == "")

        return str(self.value(table, key, where, default, fits, "a text in quotes"))

    def variable(self, table: Mapping[str, Any], key: str, where: str) -> str:
        """Return the name of an environment variable; what is none is not repeated: it may be the secret itself."""
        name = self.text(table, key, where, "")
        if name and not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise self.fault(
                f"{where}.{key}",
                "is no name of an environment variable",
                "if it is the key, put that into a variable and write the variable's name here",
            )
        return name

    def switch(self, table: Mapping[str, Any], key: str, where: str) -> bool:
        """Return true or false."""
        return bool(self.value(table, key, where, None, lambda value: isinstance(value, bool), "true or false"))

    def whole(self, table: Mapping[str, Any], key: str, where: str, default: int) -> int:
        """Return a whole number from 1."""
        wanted = f"a whole number from 1 to {_MOST:,}"
        return int(self.value(table, key, where, default, lambda v: type(v) is int and 1 <= v <= _MOST, wanted))

    def seconds(self, table: Mapping[str, Any], key: str, where: str, default: float) -> float:
        """Return a number of seconds above 0."""
        wanted = f"a number of seconds above 0, up to {_MOST:,}"
        return float(self.value(table, key, where, default, lambda v: _is_amount(v) and v > 0, wanted))

    def number(self, table: Mapping[str, Any], key: str, where: str, default: float | None = None) -> float:
        """Return a number from 0."""
        wanted = f"a number from 0 to {_MOST:,}"
        return float(self.value(table, key, where, default, _is_amount, wanted))

    def amount(self, table: Mapping[str, Any], key: str, where: str, default: float | None = None) -> int:
        """Return an amount of credits, in micro-credits."""
        return micro_of(self.number(table, key, where, default))


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= _MOST
