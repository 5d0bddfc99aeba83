"""The names that every plan has, whatever its vocabulary: builtins, methods on data, and Python names it lacks."""

from __future__ import annotations

__all__ = ["BUILTINS", "BUILTIN_ARGUMENTS", "ELSEWHERE", "METHODS", "NOT_BUILTINS", "RENAMED"]

_BUILTINS = """
len range enumerate zip sorted reversed min max sum any all map filter list dict set tuple str int float bool round abs
divmod isinstance
"""
_MANY = 1_000_000
BUILTIN_ARGUMENTS: dict[str, tuple[int, int, tuple[str, ...] | None]] = {
    "len": (1, 1, ()),
    "range": (1, 3, ()),
    "enumerate": (1, 2, ("start",)),
    "zip": (0, _MANY, ("strict",)),
    "sorted": (1, 1, ("key", "reverse")),
    "reversed": (1, 1, ()),
    "min": (1, _MANY, ("default", "key")),
    "max": (1, _MANY, ("default", "key")),
    "sum": (1, 2, ("start",)),
    "any": (1, 1, ()),
    "all": (1, 1, ()),
    "map": (2, _MANY, ()),
    "filter": (2, 2, ()),
    "round": (1, 2, ("ndigits",)),
    "abs": (1, 1, ()),
    "divmod": (2, 2, ()),
    "isinstance": (2, 2, ()),
    "list": (0, 1, ()),
    "dict": (0, 1, None),
    "set": (0, 1, ()),
    "tuple": (0, 1, ()),
    "str": (0, 1, ()),
    "int": (0, 2, ("base",)),
    "float": (0, 1, ()),
    "bool": (0, 1, ()),
}
"""How many arguments a builtin takes by position, at least and at most, and which keywords; ``None``: any."""

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
    "print": "use `log(message)`",
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
    "repr": 'use `f"{x!r}"`',
    "format": 'use `f"{x:.2f}"`',
    "ascii": 'use `f"{x!a}"`',
    "chr": "write the character itself",
    "ord": "compare texts with `<`",
    "hex": 'use `f"{x:x}"`',
    "oct": 'use `f"{x:o}"`',
    "bin": 'use `f"{x:b}"`',
    "pow": "multiply",
    "slice": "use `xs[a:b]`",
    "frozenset": "use a sorted tuple",
    "bytes": "use a text",
    "bytearray": "use a text",
    "memoryview": "use a text",
    "complex": "use a float",
    "breakpoint": "delete it",
    "exit": "let the plan end",
    "quit": "let the plan end",
    "help": "delete it",
}
"""Builtins of Python that plans do not have, with what to write instead."""
_EXCEPTIONS = """
BaseException Exception ArithmeticError AssertionError AttributeError ConnectionError IndexError KeyError LookupError
NameError NotImplementedError OSError OverflowError RuntimeError StopIteration SyntaxError TimeoutError TypeError
UnicodeError ValueError ZeroDivisionError NotImplemented
"""
_NONE = "let the value be `None`, and test for it with `if answer is None:`"
NOT_BUILTINS |= dict.fromkeys(_EXCEPTIONS.split(), _NONE)

ELSEWHERE: dict[str, str] = {
    "Counter": "count in a dict: `counts[key] = counts.get(key, 0) + 1`",
    "defaultdict": "use a dict with `d.setdefault(key, []).append(x)`",
    "OrderedDict": "use a dict: it keeps its order",
    "deque": "use a list",
    "namedtuple": "use a dict",
    "dataclass": "use a dict",
    "BaseModel": "use a dict",
    "Path": "paths are texts: use `split`, `startswith` and `endswith`",
    "reduce": "use a `for` loop, `sum`, `min` or `max`",
    "partial": "use a `lambda` with defaults",
    "product": "use nested `for` in a comprehension",
    "chain": "use a comprehension with two `for`",
    "combinations": "use `[(a, b) for i, a in enumerate(xs) for b in xs[i + 1:]]`",
    "groupby": "use a dict with `d.setdefault(key, []).append(x)`",
    "accumulate": "use a `for` loop with a running total",
    "zip_longest": "use `range(max(len(a), len(b)))` with a default for what is missing",
    "lru_cache": "leave it out: the same question is asked once",
    "dedent": "leave it out: blanks in a prompt do no harm",
    "deepcopy": "build the new value with a comprehension",
    "cast": "leave it out and keep the value",
    "sleep": "leave it out: words wait by themselves",
    "loads": "use the value itself: a worker's checked answer is data already",
    "require": "leave it out: a plan imports nothing",
    "this": "use the value's own name",
    "self": "use the value's own name: plans have no classes",
    "ctx": "call the word alone, without a context in front",
    "context": "call the word alone, without a context in front",
    "workflow": "run a saved plan with the word for it, or write its steps here",
    "Map": "use `{}`",
    "Array": "use `[]`",
    "Object": "use `{}`",
}
"""Names that other libraries and languages have, with what to write instead."""

RENAMED: dict[str, str] = {
    "length": "len",
    "lenght": "len",
    "count": "len",
    "gather": "parallel",
    "dumps": "to_json",
    "Set": "set",
    "parseInt": "int",
    "parseFloat": "float",
    "String": "str",
    "Number": "float",
    "Boolean": "bool",
    "echo": "log",
    "pprint": "log",
    "puts": "log",
    "printf": "log",
    "println": "log",
}
"""Functions of other libraries and languages that a plan has by another name."""
