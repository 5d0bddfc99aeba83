"""What is said about each piece of Python that plans do not have: code, message, hint."""

from __future__ import annotations

__all__ = ["MODULES", "REFUSALS"]

REFUSALS: dict[str, tuple[str, str, str]] = {
    "while": (
        "PL031",
        "`while` is not part of the plan language, because a plan's end must be known before it runs",
        "use `for attempt in range(100):` with a literal bound, and `break` when done.",
    ),
    "import": (
        "PL032",
        "`import` is not part of the plan language: a plan reaches only the words it was given",
        "delete this line.",
    ),
    "try": (
        "PL033",
        "`try` is not part of the plan language, because a failed worker already returns `None`",
        "keep the lines of its body and test `if answer is None:` instead of catching.",
    ),
    "raise": (
        "PL034",
        "`raise` is not part of the plan language: a plan ends with what it has",
        "let the value be `None`, or `log` what went wrong and go on.",
    ),
    "assert": (
        "PL035",
        "`assert` is not part of the plan language",
        "use `if` and `log` what is missing, or leave the line out.",
    ),
    "class": (
        "PL036",
        "`class` is not part of the plan language",
        'keep the data in a dict: `{"file": f, "line": n}`.',
    ),
    "with": (
        "PL037",
        "`with` is not part of the plan language: a plan opens nothing that must be closed",
        "keep the lines of its body; set a worker's phase with `phase(...)` before them.",
    ),
    "global": (
        "PL038",
        "`global` and `nonlocal` are not part of the plan language",
        "return the new value and assign it where the function is called: `n = f(n)`.",
    ),
    "del": (
        "PL039",
        "`del` is not part of the plan language",
        "build the list or dict without the item, or use `d.pop(key)`.",
    ),
    "yield": (
        "PL040",
        "`yield` is not part of the plan language",
        "collect the values in a list and `return` it.",
    ),
    "async": (
        "PL041",
        "`async` and `await` are not needed in a plan: a word that waits is simply called",
        "delete it, and every other `async` and `await`; use `parallel([...])` to run calls at once.",
    ),
    "match": (
        "PL043",
        "`match` is not part of the plan language",
        "use `if` and `elif` with `==` or `isinstance`.",
    ),
    "decorator": ("PL044", "decorators are not part of the plan language", "delete this line."),
    "walrus": (
        "PL045",
        "`:=` is not part of the plan language",
        "assign the name with `=` in a line of its own before this one.",
    ),
    "**": (
        "PL046",
        "`**` as power is not part of the plan language",
        "multiply: `x * x` for `x ** 2`; there are no roots.",
    ),
    "@": ("PL047", "`@` is not an operator of the plan language", "use `*` and `sum`."),
    "~": ("PL048", "`~` is not part of the plan language", "use `not x`, or `-x - 1` for a number."),
    "<<": (
        "PL049",
        "shifts are not part of the plan language",
        "use `* 2` or `// 2` as often as needed.",
    ),
    "...": ("PL052", "`...` is not part of the plan language", "use `None`, or `pass` for an empty block."),
    "/": (
        "PL053",
        "a `/` among parameters is not part of the plan language",
        "delete it: every parameter may be given by position.",
    ),
    "<>": ("PL055", "`<>` is not an operator", "write `!=`."),
}

MODULES: dict[str, str] = {
    "json": "use `to_json(x)` for `json.dumps(x)`; a worker's checked answer needs no `json.loads`",
    "math": "use `//`, `%`, `round`, `min` and `max`",
    "random": "give workers different `sample=` numbers instead of chance",
    "re": "use `in`, `split`, `startswith`, `find` and the other methods of texts",
    "time": "leave time to the runtime, and stop by rounds or by `budget()`",
    "asyncio": "call words directly; `parallel([...])` runs them at once",
    "collections": "use a dict with `d.get(key, 0) + 1` or `d.setdefault(key, []).append(x)`",
    "itertools": "use nested `for` in a comprehension",
    "functools": "use a `for` loop, or a `lambda` with defaults",
    "typing": "leave annotations out",
    "os": "a plan reaches no files, programs or settings; its words are all it can do, and `args` its arguments",
    "sys": "a plan has no streams and no arguments but `args`",
    "pathlib": "paths are texts: use `split`, `startswith` and `endswith`",
    "datetime": "a plan has no clock, so that it can be replayed",
    "logging": "use `log(message)`",
    "concurrent": "`parallel([...])` runs calls at once",
    "dataclasses": "keep the data in a dict",
    "statistics": "use `sum(xs) / len(xs)` and `sorted`",
    "copy": "build the new value with a comprehension, or `xs.copy()`",
    "string": "write the characters themselves in a text",
    "subprocess": "a plan starts no programs; its words are all it can do",
    "shutil": "a plan changes no files; its words are all it can do",
    "requests": "a plan has no network; its words are all it can do",
    "threading": "`parallel([...])` runs calls at once",
    "uuid": "number things by their place, with `enumerate`",
    "hashlib": "compare values with `==`; a dict finds its keys by itself",
    "operator": "use a `lambda`",
    "JSON": "use `to_json(x)` for `JSON.stringify(x)`; a worker's checked answer needs no `JSON.parse`",
    "console": "use `log(message)`",
    "Math": "use `round`, `min`, `max`, `abs` and `//`",
    "Promise": "call words directly; `parallel([...])` runs them at once",
    "Object": "use `d.keys()`, `d.values()` and `d.items()`",
    "process": "a plan has no environment and no arguments but `args`",
    "ctx": "call the word alone, without a context in front",
    "context": "call the word alone, without a context in front",
}
"""What to write instead of a module's functions."""
