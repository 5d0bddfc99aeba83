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
    return filled(survey, call, _BUILTINS.get(call.function.id, ()))


def of_method(survey: Survey, call: n.MethodCall) -> str:
    """Return what to write for a call of a method that no value has, or nothing."""
    if call.name in ("encode", "decode"):
        shown = survey.text(call.receiver)
        return shown if shown != "..." and "`" not in shown else ""
    if call.name in _PADDED and len(call.args) == 2:
        return _padded(survey, call)
    return filled(survey, call, _METHODS.get(call.name, ()))


_PADDED = {"ljust": "<", "rjust": ">", "center": "^"}


def _padded(survey: Survey, call: n.MethodCall) -> str:
    """Return the f-string for a text that is padded with a character of its own."""
    fill = call.args[1].value if isinstance(call.args[1], n.Constant) else ""
    if not isinstance(fill, str) or len(fill) != 1 or fill in '{}"\\`\n':
        return ""
    shown, width = survey.text(call.receiver), survey.text(call.args[0])
    made = f'f"{{{shown}:{fill}{_PADDED[call.name]}{{{width}}}}}"'
    return "" if "..." in (shown, width) or "`" in made else made


def _character(code: n.Node) -> str:
    value = code.value if isinstance(code, n.Constant) else None
    plain = type(value) is int and 32 <= value < 127 and chr(value) not in '"\\'
    return f'"{chr(int(value or 0))}"' if plain else ""


def filled(survey: Survey, node: n.Node, patterns: tuple[str, ...]) -> str:
    """Return the first pattern that fits the arguments of ``node``, a call or an attribute, filled in; or nothing."""
    args = node.args if isinstance(node, n.Call | n.MethodCall) else []
    if any(isinstance(arg, n.Starred) for arg in args):
        return ""
    given: dict[str, n.Node] = {str(at): arg for at, arg in enumerate(args)}
    pattern = next((p for p in patterns if _fits(set(_fields(p)), given)), "")
    if isinstance(node, n.MethodCall):
        given["x"] = node.receiver
    fields = _fields(pattern)
    if any(fields.count(name) > 1 and value.waits for name, value in given.items()):
        return ""  # what asks workers is asked once
    shown = {name: _shown(survey, value, name, pattern) for name, value in given.items()}
    if "call" in fields:
        mapped = args[0]
        assert isinstance(mapped, n.Lambda)
        shown["p"], shown["call"] = mapped.parameters.in_slot_order()[0].target.id, survey.text(mapped.body)
    made = "" if "..." in shown.values() else _put(pattern, shown)
    made = f"({made})" if _is_operand(survey, node) and _has_operators(pattern) else made
    return made if len(made) <= _LONGEST and "`" not in made else ""


def _fields(pattern: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(pattern) if name]


def _fits(fields: set[str], given: dict[str, n.Node]) -> bool:
    """Say whether a pattern has a place for each argument and an argument for each place."""
    if "call" in fields:
        only = given.get("0") if len(given) == 1 else None
        return isinstance(only, n.Lambda) and len(only.parameters.in_slot_order()) == 1
    return fields - {"x"} == set(given)


def _shown(survey: Survey, node: n.Node, field: str, pattern: str) -> str:
    """Return the source of ``node`` with the brackets that it needs at its place in ``pattern``."""
    shown = survey.text(node)
    if shown == "..." or field == "x":
        return shown
    if isinstance(node, n.Generator):
        bare = shown[1:-1] if node.start < node.element.start else shown
        if _fields(pattern).count(field) > 1:
            return f"[{bare}]"
        return bare if f"({{{field}}})" in pattern else f"({bare})"
    loose = isinstance(node, n.Or | n.And | n.Conditional | n.Compare | n.Chain | n.Unary | n.Lambda)
    bracketed = shown[0] == "(" and all(inner.start > node.start for inner in n.children(node))
    return f"({shown})" if loose and not bracketed and f"({{{field}}})" not in pattern else shown


def _is_operand(survey: Survey, node: n.Node) -> bool:
    """Say whether something around ``node`` takes hold of it, and would of a part of it alone."""
    user = survey.parent.get(node)
    if isinstance(user, n.Chain | n.Compare | n.Unary):
        return True
    taken = {n.Subscript: "value", n.Attribute: "value", n.MethodCall: "receiver", n.Call: "function"}
    return user is not None and getattr(user, taken.get(type(user), ""), None) is node


def _has_operators(pattern: str) -> bool:
    """Say whether ``pattern`` is more than one name, call, item or display: its blanks are between operators."""
    depth, text = 0, False
    for char in _put(pattern, dict.fromkeys(_fields(pattern), "x")):
        if char == '"':
            text = not text
        elif not text:
            depth += (char in "([{") - (char in ")]}")
            if depth == 0 and char in " -":
                return True
    return False


def _put(pattern: str, shown: dict[str, str]) -> str:
    made = ""
    for text, name, _, _ in Formatter().parse(pattern):
        made += text
        if name:
            between = " " if made.endswith("{") and shown[name].startswith("{") else ""  # `{{` would be a brace
            made += between + shown[name]
    return made
