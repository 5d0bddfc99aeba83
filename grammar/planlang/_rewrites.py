"""Calls that plans do not have and that can be written as something they do have, in the plan's own words.

A pattern holds ``{0}``, ``{1}`` for arguments, ``{x}`` for what the method is called on and ``{call}`` for an argument
that is a ``lambda`` of one parameter, applied to ``x``. A pattern fits when the call has exactly the arguments that it
names and all of them are short enough to be shown.
"""

from __future__ import annotations

from string import Formatter

from . import _nodes as n
from ._survey import Survey

__all__ = ["filled", "of_builtin", "of_method"]

_BUILTINS: dict[str, tuple[str, ...]] = {
    "repr": ('f"{{{0}!r}}"',),
    "ascii": ('f"{{{0}!a}}"',),
    "format": ('f"{{{0}}}"',),
    "hex": ('f"{{{0}:#x}}"',),
    "oct": ('f"{{{0}:#o}}"',),
    "bin": ('f"{{{0}:#b}}"',),
    "hasattr": ("{1} in {0}",),
    "getattr": ("{0}[{1}]", "{0}.get({1}, {2})"),
    "setattr": ("{0}.update({{{1}: {2}}})",),
    "delattr": ("{0}.pop({1})",),
    "next": ("list({0})[0]", "(list({0}) or [{1}])[0]"),
    "iter": ("{0}",),
    "frozenset": ("tuple(sorted({0}))",),
    "cast": ("{1}",),
}
_METHODS: dict[str, tuple[str, ...]] = {
    "zfill": ('f"{{{x}:0>{{{0}}}}}"',),
    "ljust": ('f"{{{x}:<{{{0}}}}}"',),
    "rjust": ('f"{{{x}:>{{{0}}}}}"',),
    "center": ('f"{{{x}:^{{{0}}}}}"',),
    "has_key": ("{0} in {x}",),
    "has": ("{0} in {x}",),
    "includes": ("{0} in {x}",),
    "contains": ("{0} in {x}",),
    "appendleft": ("{x}.insert(0, {0})",),
    "popleft": ("{x}.pop(0)",),
    "push": ("{x}.append({0})",),
    "unshift": ("{x}.insert(0, {0})",),
    "shift": ("{x}.pop(0)",),
    "concat": ("{x} + {0}",),
    "length": ("len({x})",),
    "size": ("len({x})",),
    "isnumeric": ("{x}.isdigit()",),
    "isdecimal": ("{x}.isdigit()",),
    "isupper": ("{x} == {x}.upper()",),
    "islower": ("{x} == {x}.lower()",),
    "casefold": ("{x}.lower()",),
    "toUpperCase": ("{x}.upper()",),
    "toLowerCase": ("{x}.lower()",),
    "trim": ("{x}.strip()",),
    "toString": ("str({x})",),
    "toFixed": ('f"{{{x}:.{0}f}}"',),
    "charAt": ("{x}[{0}]",),
    "at": ("{x}[{0}]",),
    "substring": ("{x}[{0}:{1}]", "{x}[{0}:]"),
    "substr": ("{x}[{0}:]",),
    "slice": ("{x}[{0}:{1}]", "{x}[{0}:]"),
    "expandtabs": ('{x}.replace("\\t", "        ")', '{x}.replace("\\t", " " * {0})'),
    "replaceAll": ("{x}.replace({0}, {1})",),
    "most_common": (
        "sorted({x}.items(), key=lambda kv: kv[1], reverse=True)",
        "sorted({x}.items(), key=lambda kv: kv[1], reverse=True)[:{0}]",
    ),
    "fromkeys": ("{{key: None for key in {0}}}", "{{key: {1} for key in {0}}}"),
    "map": ("[{call} for {p} in {x}]",),
    "filter": ("[{p} for {p} in {x} if {call}]",),
    "some": ("any({call} for {p} in {x})",),
    "every": ("all({call} for {p} in {x})",),
}
_LONGEST = 80


def of_builtin(survey: Survey, call: n.Node) -> str:
    """Return what to write for a call of a builtin that plans lack, or nothing."""
    if not isinstance(call, n.Call) or not isinstance(call.function, n.Name) or call.keywords:
        return ""
    if call.function.id == "chr" and len(call.args) == 1:
        return _character(call.args[0])
    return filled(survey, _BUILTINS.get(call.function.id, ()), call.args, None)


def of_method(survey: Survey, call: n.MethodCall) -> str:
    """Return what to write for a call of a method that no value has, or nothing."""
    if call.name in ("encode", "decode"):
        return survey.text(call.receiver)
    if call.name in _PADDED and len(call.args) == 2:
        return _padded(survey, call)
    return _apart(survey, call, filled(survey, _METHODS.get(call.name, ()), call.args, call.receiver))


_PADDED = {"ljust": "<", "rjust": ">", "center": "^"}


def _padded(survey: Survey, call: n.MethodCall) -> str:
    """Return the f-string for a text that is padded with a character of its own."""
    width, fill = call.args
    shown, char = survey.text(call.receiver), fill.value if isinstance(fill, n.Constant) else ""
    if not isinstance(char, str) or len(char) != 1 or char in '{}"\\`\n' or "`" in shown or "..." in shown:
        return ""
    return f'f"{{{shown}:{char}{_PADDED[call.name]}{{{survey.text(width)}}}}}"'


def _apart(survey: Survey, call: n.Node, made: str) -> str:
    """Put brackets around what would be torn apart by the operators around it."""
    joined = isinstance(survey.parent.get(call), n.Chain | n.Compare | n.Subscript | n.MethodCall | n.Unary)
    return f"({made})" if joined and made and made[-1] not in ')]"' else made


def _character(code: n.Node) -> str:
    value = code.value if isinstance(code, n.Constant) else None
    plain = type(value) is int and 32 <= value < 127 and chr(value) not in '"\\'
    return f'"{chr(int(value or 0))}"' if plain else ""


def filled(survey: Survey, patterns: tuple[str, ...], args: list[n.Node], receiver: n.Node | None) -> str:
    """Return the first pattern that fits the arguments, filled in, or nothing."""
    shown = {str(at): _argument(survey, arg) for at, arg in enumerate(args)}
    if receiver is not None:
        shown["x"] = survey.text(receiver)
    if len(args) == 1 and isinstance(args[0], n.Lambda) and len(args[0].parameters.in_slot_order()) == 1:
        shown["p"] = args[0].parameters.in_slot_order()[0].target.id
        shown["call"] = survey.text(args[0].body)
    if "..." in shown.values() or any(isinstance(arg, n.Starred) for arg in args):
        return ""
    for pattern in patterns:
        wanted = {name for _, name, _, _ in Formatter().parse(pattern) if name}
        if "call" in wanted and "call" not in shown:
            continue
        if "call" in wanted or {name for name in wanted if name.isdigit()} == {str(i) for i in range(len(args))}:
            made = _put(pattern, shown)
            return made if len(made) <= _LONGEST and "`" not in made else ""
    return ""


def _argument(survey: Survey, node: n.Node) -> str:
    shown = survey.text(node)
    loose = isinstance(node, n.Or | n.And | n.Conditional | n.Compare | n.Chain | n.Unary | n.Lambda)
    bracketed = survey.source[node.start] == "(" and survey.source[node.end - 1] == ")"
    return f"({shown})" if loose and not bracketed and shown != "..." else shown


def _put(pattern: str, shown: dict[str, str]) -> str:
    parts = []
    for text, name, _, _ in Formatter().parse(pattern):
        parts.append(text + (shown[name] if name else ""))
    return "".join(parts)
