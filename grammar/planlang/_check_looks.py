"""Values that are other than they look: two texts that are one, a number that is two, a change that gives nothing.

All of it is Python, and runs; so it is advice, unless what follows fails for certain.
"""

from __future__ import annotations

import re

from . import _nodes as n
from ._limits import DEFAULT_RULES
from ._literals import grouped
from ._survey import Survey
from ._tokenizer import tokenize

__all__ = ["advise_on_looks", "check_changes"]

_CHANGES = frozenset(
    ("append", "extend", "insert", "remove", "sort", "reverse", "clear", "add", "discard", "update"),
)
"""Methods that give ``None`` on every type that has them."""
_NEIGHBOURS = re.compile(r"""["']\s*[rRfFuU]{0,2}["']""")
_LONG_TEXT = 60
"""A text of a list that is written in several pieces is meant to be one, where the pieces are long."""
_TAKES_DATA = frozenset(
    ("len", "list", "tuple", "set", "dict", "sorted", "reversed", "enumerate", "sum", "min", "max", "any", "all"),
)


def advise_on_looks(survey: Survey) -> None:
    """Note texts and numbers that lack or have a comma, and changes whose value is kept."""
    for display in survey.all(n.ListDisplay, n.SetDisplay, n.TupleDisplay):
        if isinstance(display, n.TupleDisplay):
            _thousands(survey, display)
        for item in display.items:
            _neighbours(survey, item)
    for call in survey.all(n.MethodCall):
        user = survey.parent.get(call)
        kept = (isinstance(user, n.Assign) and user.value is call) or isinstance(user, n.Return)
        if kept and call.name in _CHANGES:
            survey.at("PL212", call, _gives_none(call), _instead(survey, call))


# ---- texts side by side


def _neighbours(survey: Survey, item: n.Node) -> None:
    if not _is_text(item) or survey.source[item.start] == "(":
        return
    shown = survey.source[item.start : item.end]
    if not _NEIGHBOURS.search(shown):
        return
    pieces = _pieces(shown)
    if len(pieces) < 2 or max(end - start for start, end in pieces) > _LONG_TEXT:
        return
    first, second = (shown[start:end] for start, end in pieces[:2])
    message = "these texts stand side by side, which makes them one: no comma parts them"
    start, end = item.start + pieces[0][0], item.start + pieces[1][1]
    survey.complain("PL210", start, end, message, f"write `{first}, {second}`, or put the one text in brackets.")


def _is_text(node: n.Node) -> bool:
    return isinstance(node, n.FString) or (isinstance(node, n.Constant) and isinstance(node.value, str))


def _pieces(shown: str) -> list[tuple[int, int]]:
    """Return where each of the texts that stand side by side begins and ends."""
    found: list[tuple[int, int]] = []
    depth = 0
    for token in tokenize(shown, DEFAULT_RULES).tokens:
        if depth == 0 and token.type in ("STRING", "FSTART"):
            found.append((token.start, token.end))
        depth += (token.type == "FSTART") - (token.type == "FEND")
        if depth == 0 and token.type == "FEND":
            found[-1] = (found[-1][0], token.end)
    return found


# ---- numbers with commas


def _thousands(survey: Survey, display: n.TupleDisplay) -> None:
    number = grouped(survey.source[display.start : display.end])
    if number:
        message = f"`{survey.text(display)}` is {len(display.items)} numbers: a comma does not group digits"
        survey.at("PL211", display, message, f"write `{number}`.")


# ---- changes that give nothing


def check_changes(survey: Survey) -> None:
    """Name what is done with the value of a change, such as ``sort``, and fails because that is ``None``."""
    for call in survey.all(n.MethodCall):
        if call.name in _CHANGES and _fails_on_none(survey, call):
            survey.at("PL125", call, _gives_none(call), _instead(survey, call))


def _fails_on_none(survey: Survey, call: n.MethodCall) -> bool:
    user = survey.parent.get(call)
    if isinstance(user, n.Subscript):
        return user.value is call
    if isinstance(user, n.MethodCall):
        return user.receiver is call
    if isinstance(user, n.For | n.Clause):
        return user.iterable is call
    if not isinstance(user, n.Call) or user.args != [call] or not isinstance(user.function, n.Name):
        return False
    return user.function.kind == n.BUILTIN and user.function.id in _TAKES_DATA


def _gives_none(call: n.MethodCall) -> str:
    return f"`{call.name}` changes its value in place and gives `None`, which is what is used here"


def _instead(survey: Survey, call: n.MethodCall) -> str:
    """Return an expression that has the changed value."""
    of, given = survey.text(call.receiver), survey.source[call.name_end + 1 : call.end - 1]
    short = of != "..." and len(given) <= _LONG_TEXT and not set("\n`") & set(of + given)
    one = len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], n.Starred)
    patterns = {
        "sort": f"sorted({of}{', ' if given else ''}{given})",
        "reverse": f"{of}[::-1]",
        "append": f"[*{of}, {given}]" if one else "",
        "extend": f"[*{of}, *{given}]" if one and isinstance(call.args[0], n.Name | n.Call | n.ListDisplay) else "",
    }
    user = survey.parent.get(call)
    if isinstance(user, n.MethodCall) and user.name in _CHANGES:
        return "put each change in a line of its own."
    made = patterns.get(call.name, "") if short else ""
    if made:
        return f"write `{made}`."
    shown = of if of != "..." and "`" not in of else "the value"
    return f"put the change in a line of its own before this one, and use `{shown}` here."
