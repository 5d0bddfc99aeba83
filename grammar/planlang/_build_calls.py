"""Nodes of calls and of parameters, and the order in which Python wants both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _nodes as n
from ._building import Building, Parts, span
from ._literals import grouped
from ._token import Token

__all__ = ["RULES", "parameters"]


def _call(b: Building, parts: Parts) -> n.Node:
    function, _, *given, _ = parts
    args, keywords = _split(b, given[::2])
    if len(given) == 2 and _is_bare(given[0]):
        b.complain("PL029", given[1].start, given[1].end, "a bare generator takes no comma", "delete the comma.")
    start, end = span(parts)
    if isinstance(function, n.Attribute):
        name_span = function.name_start, function.name_end
        return n.MethodCall(start, end, function.value, function.name, args, keywords, name_span)
    return n.Call(start, end, function, args, keywords)


def _split(b: Building, given: list[n.Node]) -> tuple[list[n.Node], list[n.Keyword]]:
    args: list[n.Node] = []
    keywords: list[n.Keyword] = []
    for item in given:
        if isinstance(item, n.Keyword):
            keywords.append(item)
            continue
        after = bool(keywords) and not (isinstance(item, n.Starred) and all(k.name for k in keywords))
        if not after or not _by_position_after(b, keywords[-1].value, item):
            args.append(item)
    _check_generators(b, args, keywords)
    _check_twice(b, keywords)
    return args, keywords


def _by_position_after(b: Building, before: n.Node, item: n.Node) -> bool:
    """Name the argument that follows one by keyword; say whether it is only a part of that one."""
    message = "an argument by position follows one by keyword"
    number = grouped(b.source[before.start : item.end])
    if number:
        b.complain("PL023", before.start, item.end, message, f"write `{number}`: a comma does not group digits.")
        return True
    hint = f"move `{b.text_of(item)}` before the arguments with `=`, or give it by keyword too."
    b.complain("PL023", item.start, item.end, message, hint)
    return False


def _check_generators(b: Building, args: list[n.Node], keywords: list[n.Keyword]) -> None:
    for item in args:
        if _is_bare(item) and len(args) + len(keywords) > 1:
            hint = f"put it in brackets: `[{b.text_of(item)}]`."
            b.complain("PL029", item.start, item.end, "a generator beside other arguments needs brackets", hint)


def _is_bare(item: n.Node) -> bool:
    return isinstance(item, n.Generator) and item.start == item.element.start


def _check_twice(b: Building, keywords: list[n.Keyword]) -> None:
    seen: set[str] = set()
    for keyword in keywords:
        if keyword.name in seen:
            message = f"the keyword `{keyword.name}` is given twice"
            b.complain("PL022", keyword.start, keyword.end, message, "delete it, or the other one.")
        if keyword.name:
            seen.add(keyword.name)


def _spread(b: Building, parts: Parts) -> n.Node:
    return n.Starred(*span(parts), parts[1])


def _keyword(b: Building, parts: Parts) -> n.Node:
    name, _, value = parts
    if isinstance(name, n.Name) and name.end - name.start == len(name.id):
        return n.Keyword(*span(parts), name.id, value)
    if isinstance(name, n.Lambda):
        mark = next(part for part in parts if isinstance(part, Token))
        message = "a lambda holds one expression, and `=` assigns"
        b.complain("PL021", mark.start, mark.end, message, "write `==` to compare, or use a `def`.")
        return name
    message = f"`{b.text_of(name)}` is not the name of a parameter"
    b.complain("PL021", name.start, name.end, message, "use `name=value`, or `==` to compare.")
    return value  # type: ignore[no-any-return]  # parts are nodes here, by the grammar


def _double_spread(b: Building, parts: Parts) -> n.Node:
    return n.Keyword(*span(parts), None, parts[1])


def _lambda(b: Building, parts: Parts) -> n.Node:
    start, end = span(parts)
    return n.Lambda(start, end, parameters(b, parts[1:-2], parts[0].end), parts[-1])


class _Given:
    """One parameter as written; ``star`` is ``*``, ``**``, ``/`` or nothing."""

    def __init__(self, star: str, start: int, end: int, parameter: n.Parameter | None) -> None:
        self.star, self.start, self.end, self.parameter = star, start, end, parameter


def _parameter(b: Building, parts: Parts) -> _Given:
    first = parts[0]
    star = first.type if first.type != "NAME" else ""
    name = next((p for p in parts if isinstance(p, Token) and p.type == "NAME"), None)
    start, end = span(parts)
    if name is None:
        return _Given(star, start, end, None)
    has_default = not star and len(parts) > 2 and parts[-2].type == "="
    target = n.Name(name.start, name.end, str(name.value))
    return _Given(star, start, end, n.Parameter(start, end, target, parts[-1] if has_default else None))


def parameters(b: Building, given: Parts, start: int) -> n.Parameters:
    """Return the parameters of a ``def`` or ``lambda``; what Python would refuse in their order is complained about."""
    items = [item for item in given if isinstance(item, _Given)]
    positional: list[n.Parameter] = []
    keyword_only: list[n.Parameter] = []
    star: n.Parameter | None = None
    double_star: n.Parameter | None = None
    starred = False
    for place, item in enumerate(items):
        if double_star is not None:
            _order(b, item, "nothing may follow `**` among parameters", "move it before the `**`.")
        if item.star == "/":
            b.refuse("/", item.start, item.end)
        elif item.star == "*":
            if starred:
                _order(b, item, "`*` stands twice among the parameters", "keep one of them.")
            elif item.parameter is None and not any(i.star == "" for i in items[place + 1 :]):
                _order(b, item, "a bare `*` needs a parameter after it", "delete the `*`, or name what follows it.")
            starred, star = True, item.parameter
        elif item.star == "**":
            double_star = item.parameter
        elif item.parameter is not None:
            (keyword_only if starred else positional).append(item.parameter)
    _check_defaults(b, positional)
    _check_names(b, items)
    end = items[-1].end if items else start
    return n.Parameters(items[0].start if items else start, end, positional, star, keyword_only, double_star)


def _order(b: Building, item: _Given, message: str, hint: str) -> None:
    b.complain("PL023", item.start, item.end, message, hint)


def _check_defaults(b: Building, positional: list[n.Parameter]) -> None:
    seen = ""
    for parameter in positional:
        name = parameter.target
        if parameter.default is not None:
            seen = name.id
        elif seen:
            message = f"`{name.id}` has no default but follows `{seen}`, which has one"
            hint = f"move `{name.id}` before `{seen}`, or write `{name.id}=None`."
            b.complain("PL023", name.start, name.end, message, hint)
            return


def _check_names(b: Building, items: list[_Given]) -> None:
    seen: set[str] = set()
    for item in items:
        if item.parameter is None:
            continue
        name = item.parameter.target
        if name.id in seen:
            message = f"the parameter `{name.id}` stands twice"
            b.complain("PL022", name.start, name.end, message, "give one of the two another name.")
        seen.add(name.id)


RULES: dict[str, Callable[[Building, Parts], Any]] = {
    "call": _call,
    "spread": _spread,
    "keyword": _keyword,
    "double_spread": _double_spread,
    "lambda_": _lambda,
    "parameter": _parameter,
    "lambda_parameter": _parameter,
}
