"""What other tools have and plans have not: functions that are handed over side by side, or beside their items."""

from __future__ import annotations

from inspect import Parameter

from . import _nodes as n
from ._handed import functions_of
from ._survey import Survey
from ._vocabulary import Word

__all__ = ["is_function", "thunks_split"]

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def thunks_split(survey: Survey, call: n.Call, word: Word) -> bool:
    """Name ``parallel(items, fn)`` and ``parallel(f, g)``, which other tools have and plans do not."""
    positional = [p for p in word.signature.parameters.values() if p.kind in _POSITIONAL]
    if not _takes_thunks(word) or len(positional) != 1:
        return False
    if call.args and all(is_function(survey, arg) for arg in call.args):
        _in_one_list(survey, call, word, "")
        return True
    if len(call.args) > 1 and all(survey.spends(arg) for arg in call.args):
        _in_one_list(survey, call, word, "lambda: ")
        return True
    if len(call.args) == 1 and isinstance(call.args[0], n.Starred) and not _passed_on(survey, call.args[0].value):
        message = f"`{word.name}` takes its functions in one list"
        survey.at("PL114", call.args[0], message, f"write `{_as_list(survey, call.args[0].value)}`, without the `*`.")
        return True
    given = [*call.args, *_named_by_others(survey, call, word)]
    if len(given) != 2:
        return False
    items, function = given
    if is_function(survey, items) and not is_function(survey, function):
        items, function = function, items
    shown = survey.text(items)
    if isinstance(function, n.Lambda) and len(function.parameters.positional) == 1:
        p = function.parameters.positional[0].target.id
        made = f"[lambda {p}={p}: {survey.text(function.body)} for {p} in {shown}]"
    elif isinstance(function, n.Name):
        made = f"[lambda x=x: {function.id}(x) for x in {shown}]"
    else:
        return False
    message = f"`{word.name}` takes one list of functions, not items and a function"
    survey.at("PL114", call, message, f"write `{word.name}({made})`.")
    return True


def is_function(survey: Survey, node: n.Node) -> bool:
    """Say whether ``node`` is a lambda, or a name of nothing but functions."""
    binding = survey.names.of.get(node) if isinstance(node, n.Name) else None
    functions = survey.functions.get(binding, ()) if binding is not None else ()
    return isinstance(node, n.Lambda) or (binding is not None and 0 < len(functions) == len(binding.writes))


def _takes_thunks(word: Word) -> bool:
    """Say whether a word that runs tasks is given them all in one list, as ``parallel`` is."""
    return [*functions_of(word).values()] == [(0, 0)]


def _named_by_others(survey: Survey, call: n.Call, word: Word) -> list[n.Node]:
    """Return what other tools' keywords hold, as in ``parallel(items=xs, fn=f)``, where one of them is a function."""
    found = [keyword.value for keyword in call.keywords if keyword.name not in word.signature.parameters]
    return found if any(is_function(survey, value) for value in found) else []


def _in_one_list(survey: Survey, call: n.Call, word: Word, before: str) -> None:
    """Say how the arguments of ``call`` are one list of functions, with ``before`` in front of each."""
    shown = ", ".join(before + survey.text(arg) for arg in call.args)
    long = len(shown) > 120 or "`" in shown or "..." in shown
    each = f", and `{before.strip()}` before each" if before else ""
    hint = f"put `[` before the first and `]` behind the last{each}." if long else f"write `[{shown}]`."
    message = f"`{word.name}` takes its functions in one list"
    survey.complain("PL114", call.args[0].start, call.args[-1].end, message, hint)


def _passed_on(survey: Survey, node: n.Node) -> bool:
    """Say whether ``node`` is a parameter, as in ``def run(*args): return parallel(*args)``: one list may be in it."""
    binding = survey.names.of.get(node) if isinstance(node, n.Name) else None
    return binding is not None and binding.is_parameter


def _as_list(survey: Survey, node: n.Node) -> str:
    shown = survey.text(node)
    return f"[{shown[1:-1]}]" if isinstance(node, n.Generator) and shown != "..." else shown
