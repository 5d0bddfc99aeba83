"""The two older ways of formatting, written as the f-string that plans have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from . import _nodes as n
from ._survey import Survey

__all__ = ["of_format", "of_percent", "with_values"]

_PERCENT = re.compile(r"%(?:\((\w+)\))?([-+ 0#]*)(\d*)(?:\.(\d+))?([a-zA-Z%])")
_LONGEST = 160


def of_format(survey: Survey, call: n.MethodCall) -> str:
    """Return the f-string for ``"...".format(...)``, or nothing where it is not plain to see."""
    quote, inside = _literal(survey, call.receiver)
    if not quote or any(isinstance(a, n.Starred) for a in call.args) or not all(k.name for k in call.keywords):
        return ""
    from string import Formatter  # takes as long to import as a plan to parse, and few plans hold a `.format`

    given = {str(at): survey.text(arg) for at, arg in enumerate(call.args)}
    given |= {str(k.name): survey.text(k.value) for k in call.keywords}
    made, counted = "", 0
    try:
        pieces = list(Formatter().parse(inside))
    except ValueError:
        return ""
    for text, name, spec, conversion in pieces:
        made += _braces(text)
        if name is None:
            continue
        key = name or str(counted)
        counted += not name
        if key not in given or "{" in (spec or ""):
            return ""
        made += _field(given[key], conversion or "", spec or "")
    return _finished(quote, made)


def of_percent(survey: Survey, text: n.Node, value: n.Node) -> str:
    """Return the f-string for ``"..." % value``, or nothing where it is not plain to see."""
    return with_values(survey, text, value.items if isinstance(value, n.TupleDisplay) else [value])


def with_values(survey: Survey, text: n.Node, values: list[n.Node]) -> str:
    """Return the f-string for a text with ``%`` marks and as many values, or nothing where they do not fit."""
    quote, inside = _literal(survey, text)
    if not quote:
        return ""
    given = [survey.text(one) for one in values]
    marks = [found for found in _PERCENT.finditer(inside) if found[5] != "%"]
    if len(marks) != len(given) or any(found[1] or found[5] not in "sdifrxXeEgGoc" for found in marks):
        return ""
    waiting = iter(given)
    return _finished(quote, _replaced(inside, lambda found: _of_mark(found, waiting)))


def _replaced(inside: str, field: Callable[[re.Match[str]], str]) -> str:
    made, at = "", 0
    for found in _PERCENT.finditer(inside):
        made += _braces(inside[at : found.start()]) + field(found)
        at = found.end()
    return made + _braces(inside[at:])


def _of_mark(found: re.Match[str], waiting: Iterator[str]) -> str:
    _, flags, width, precision, kind = found.groups()
    if kind == "%":
        return "%"
    value = next(waiting)
    align = "<" if "-" in flags else ">" if width and kind in "sr" else ""
    sign = "+" if "+" in flags else ""
    zeros = "0" if "0" in flags and "-" not in flags else ""
    letter = "" if kind in "sri" or (kind == "d" and not (align or sign or zeros or width)) else kind
    spec = align + sign + zeros + width + (f".{precision}" if precision else "") + letter
    return _field(value, "r" if kind == "r" else "", spec)


def _literal(survey: Survey, node: n.Node) -> tuple[str, str]:
    """Return the quote and the inside of a text as it is written, or nothing for one that is no plain literal."""
    shown = survey.source[node.start : node.end]
    plain = isinstance(node, n.Constant) and isinstance(node.value, str) and len(shown) >= 2
    if not plain or shown[0] not in "'\"" or shown.startswith(('"""', "'''")) or shown.count(shown[0]) != 2:
        return "", ""
    inside = shown[1:-1]
    return (shown[0], inside) if "\\N" not in inside and inside.isprintable() else ("", "")


def _field(value: str, conversion: str, spec: str) -> str:
    loose = value.startswith(("{", "lambda")) or "..." in value
    return f"{{{f'({value})' if loose else value}{'!' + conversion if conversion else ''}{':' + spec if spec else ''}}}"


def _braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _finished(quote: str, inside: str) -> str:
    made = f"f{quote}{inside}{quote}"
    return made if len(made) <= _LONGEST and "`" not in made and "..." not in inside else ""
