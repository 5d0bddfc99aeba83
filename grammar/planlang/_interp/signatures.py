"""How many arguments a method takes, with CPython's words when a call does not fit."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

__all__ = ["Method"]


class Method:
    """One method of one class: what it does, and how many positional arguments and which keywords it takes.

    Keywords ``None`` means any.
    """

    __slots__ = ("call", "keywords", "least", "most", "name")

    def __init__(
        self, name: str, call: Callable[..., Any], least: int, most: int, keywords: Collection[str] | None = ()
    ) -> None:
        self.name, self.call, self.least, self.most, self.keywords = name, call, least, most, keywords

    def check(self, given: int, keywords: dict[str, Any]) -> None:
        """Return when so many arguments and these keywords fit; :raises TypeError: they do not."""
        if not self.least <= given <= self.most:
            raise TypeError(f"{self.name}() takes {self._expects()}, {given} given")
        for keyword in keywords:
            if self.keywords is not None and keyword not in self.keywords:
                raise TypeError(f"{self.name}() got an unexpected keyword argument '{keyword}'")

    def _expects(self) -> str:
        if self.least == self.most:
            return f"exactly {self.least} argument{'' if self.least == 1 else 's'}"
        return f"{self.least} to {self.most} arguments" if self.most < 100 else f"at least {self.least} arguments"
