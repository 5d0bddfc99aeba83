"""The names that every plan has, whatever its vocabulary: builtins, methods on data, and Python names it lacks."""

from __future__ import annotations

__all__ = ["BUILTINS", "METHODS", "NOT_BUILTINS"]

_BUILTINS = """
len range enumerate zip sorted reversed min max sum any all map filter list dict set tuple str int float bool round abs
divmod isinstance
"""
_METHODS = """
append extend insert pop remove index count sort reverse copy clear get keys values items setdefault update add discard
union intersection difference symmetric_difference issubset issuperset isdisjoint split rsplit splitlines strip lstrip
rstrip lower upper title capitalize join startswith endswith removeprefix removesuffix find replace partition rpartition
isdigit isalpha isalnum isspace
"""

BUILTINS = frozenset(_BUILTINS.split())
METHODS = frozenset(_METHODS.split())

_REACHES_OUT = "a plan reaches nothing but the words it was given"
_DATA = "keep data in dicts, and test it with `==`, `in` and `isinstance`"

NOT_BUILTINS: dict[str, str] = {
    "print": "write `log(...)`",
    "open": f"use the words for files; {_REACHES_OUT}",
    "input": "read `args` instead",
    "eval": "compute the value in the plan itself",
    "exec": "write the statements in the plan itself",
    "compile": "write the statements in the plan itself",
    "globals": "keep values in a dict of your own",
    "locals": "keep values in a dict of your own",
    "vars": "keep values in a dict of your own",
    "dir": _DATA,
    "getattr": "use `d[key]` or `d.get(key)`",
    "setattr": "use `d[key] = value`",
    "delattr": "use `d.pop(key)`",
    "hasattr": "use `key in d`",
    "type": "use `isinstance(x, str)`",
    "id": "compare with `==`",
    "hash": "compare with `==`; a dict finds its keys by itself",
    "object": _DATA,
    "super": _DATA,
    "property": _DATA,
    "classmethod": _DATA,
    "staticmethod": _DATA,
    "callable": "call it, or pass a `lambda`",
    "iter": "use a `for` loop",
    "next": "use a `for` loop with `break`, or `xs[0]`",
    "repr": 'write `f"{x!r}"`',
    "format": 'write `f"{x:.2f}"`',
    "ascii": 'write `f"{x!a}"`',
    "chr": "write the character itself",
    "ord": "compare texts with `<`",
    "hex": 'write `f"{x:x}"`',
    "oct": 'write `f"{x:o}"`',
    "bin": 'write `f"{x:b}"`',
    "pow": "multiply",
    "slice": "write `xs[a:b]`",
    "frozenset": "use a sorted tuple",
    "bytes": "use a text",
    "bytearray": "use a text",
    "memoryview": "use a text",
    "complex": "use a float",
    "breakpoint": "delete it",
    "exit": "let the plan end",
    "quit": "let the plan end",
    "help": "delete it",
    "Exception": "let the value be `None`",
    "ValueError": "let the value be `None`",
}
"""Builtins of Python that plans do not have, with what to write instead."""
