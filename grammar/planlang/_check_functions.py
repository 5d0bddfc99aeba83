"""Calls of builtins and of the plan's own functions, and words where a value is meant: what fails whenever it runs."""

from __future__ import annotations

from . import _nodes as n
from ._check_split import is_function
from ._names import BUILTIN_ARGUMENTS
from ._near import listed, nearest
from ._survey import Function, Survey

__all__ = ["check_functions"]


def check_functions(survey: Survey) -> None:
    """Judge calls that name a builtin or a function of the plan, and words that nobody calls."""
    for call in survey.all(n.Call):
        if not isinstance(call.function, n.Name) or _spreads(call):
            continue
        if call.function.kind == n.BUILTIN:
            _builtin(survey, call, call.function.id)
        function = _only_function(survey, call.function)
        if function is not None:
            _own(survey, call, call.function.id, function)
    for method in survey.all(n.MethodCall):
        _sort(survey, method)
    for loop in survey.all(n.For, n.Clause):
        _not_iterable(survey, loop.iterable)
    for chain in survey.all(n.Chain):
        _added(survey, chain)
    _whole_numbers(survey)
    for name in survey.all(n.Name):
        if name.kind == n.WORD and name.id in survey.vocabulary.words and _value_is_meant(survey, name):
            message = f"`{name.id}` is a word, and its value is meant here"
            survey.at("PL124", name, message, f"write `{name.id}()`." if _bare(survey, name.id) else _call_it(name.id))


def _not_iterable(survey: Survey, node: n.Node) -> None:
    if not isinstance(node, n.Constant) or isinstance(node.value, str):
        return
    counted = type(node.value) is int
    hint = f"write `range({node.value})`." if counted else "give it a list, or `range(n)`."
    survey.at("PL108", node, f"`{survey.text(node)}` cannot be looped over", hint)


def _whole_numbers(survey: Survey) -> None:
    """Name a quotient where only whole numbers can stand: in ``range`` and in a slice."""
    for call in survey.all(n.Call):
        if isinstance(call.function, n.Name) and call.function.kind == n.BUILTIN and call.function.id == "range":
            for argument in call.args:
                _quotient(survey, argument, "`range` takes whole numbers")
    for part in survey.all(n.Slice):
        for bound in n.children(part):
            _quotient(survey, bound, "a slice takes whole numbers")


def _quotient(survey: Survey, node: n.Node, message: str) -> None:
    if not isinstance(node, n.Chain) or node.ops[-1] != "/":
        return
    first, last = node.operands[-2].end, node.operands[-1].start
    gap = survey.source[first:last]
    before, after = survey.source[node.start : first], survey.source[last : node.end]
    made = f"{before}{gap.replace('/', '//', 1)}{after}"
    hint = f"write `{made}`." if "\n" not in made and "`" not in made and len(made) <= 90 else "divide with `//`."
    survey.at("PL108", node, f"{message}, and `/` gives a fraction", hint)


def _added(survey: Survey, chain: n.Chain) -> None:
    """Name a text and a number with ``+`` between them."""
    for at, op in enumerate(chain.ops):
        left, right = chain.operands[at], chain.operands[at + 1]
        if op == "+" and _is_text(left if at == 0 else chain.operands[0]) and _is_number(right):
            number = right
        elif op == "+" and at == 0 and _is_number(left) and _is_text(right):
            number = left
        else:
            continue
        message = "`+` does not join a text and a number"
        survey.at("PL108", number, message, f"write `str({survey.text(number)})`, or use an f-string.")
        return


def _is_text(node: n.Node) -> bool:
    return isinstance(node, n.FString) or (isinstance(node, n.Constant) and isinstance(node.value, str))


def _is_number(node: n.Node) -> bool:
    if isinstance(node, n.Call) and isinstance(node.function, n.Name):
        return node.function.kind == n.BUILTIN and node.function.id in ("len", "int", "float", "round", "abs")
    return False


def _spreads(call: n.Call) -> bool:
    return any(isinstance(a, n.Starred) for a in call.args) or any(not k.name for k in call.keywords)


def _bare(survey: Survey, word: str) -> bool:
    """Say whether a word can be called without arguments."""
    parameters = survey.vocabulary.words[word].signature.parameters.values()
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def _call_it(word: str) -> str:
    return f"call it: `{word}(...)`."


_OF_VALUES = frozenset(BUILTIN_ARGUMENTS) - {"map", "filter", "isinstance"}


def _value_is_meant(survey: Survey, name: n.Name) -> bool:
    user = survey.parent.get(name)
    if isinstance(user, n.Compare | n.Chain | n.Unary | n.Field):
        return True
    if isinstance(user, n.Call) and name in user.args:
        return isinstance(user.function, n.Name) and user.function.kind == n.BUILTIN and user.function.id in _OF_VALUES
    if isinstance(user, n.Subscript):
        return user.value is name
    if isinstance(user, n.For | n.Clause):
        return user.iterable is name
    if isinstance(user, n.If):
        return name in user.tests
    return isinstance(user, n.Conditional) and user.test is name


# ---- builtins


def _builtin(survey: Survey, call: n.Call, name: str) -> None:
    least, most, known = BUILTIN_ARGUMENTS[name]
    for keyword in call.keywords:
        if known is not None and keyword.name not in known:
            _unknown(survey, keyword, name, known)
            return
    given = len(call.args)
    if name in _KEYED and given == 2 and _is_callable(survey, call.args[1]):
        _say_key(survey, call.args[1], name, "PL107" if given > most else "PL108")
    elif name in ("map", "filter") and given == 2 and _is_callable(survey, call.args[1]):
        function, values = call.args[1], call.args[0]
        message = f"`{name}` takes its function first"
        hint = f"write `{survey.text(function)}, {survey.text(values)}`."
        survey.complain("PL108", values.start, function.end, message, hint)
    elif given > most:
        message = f"`{name}` takes at most {most} argument{'s' * (most != 1)} by position, not {given}"
        survey.at("PL107", call.args[most], message, _one_value(name))
    elif given < least:
        message = f"`{name}` needs {least - given} argument{'s' * (least - given != 1)} more"
        survey.at("PL106", call, message, f"call it as `{name}({', '.join('xy'[:least])})`.")


def _one_value(name: str) -> str:
    if name in ("sum", "any", "all", "list", "tuple", "set", "sorted"):
        return f"put the values in a list: `{name}([...])`."
    return f"delete it, or call `{name}` once for each."


_PLACES = frozenset(
    ("start", "stop", "step", "iterable", "iterables", "function", "func", "number", "sequence", "object")
)
"""What Python calls parameters of builtins that are given by position."""


_KEYED = frozenset(("max", "min", "sorted"))


def _is_callable(survey: Survey, node: n.Node) -> bool:
    return is_function(survey, node) or (isinstance(node, n.Name) and node.kind == n.BUILTIN)


def _sort(survey: Survey, call: n.MethodCall) -> None:
    """Name ``xs.sort(f)``."""
    if call.name == "sort" and call.args and _is_callable(survey, call.args[0]):
        _say_key(survey, call.args[0], "sort", "PL107")


def _say_key(survey: Survey, function: n.Node, name: str, code: str) -> None:
    message = f"`{name}` takes its function only as `key`"
    survey.at(code, function, message, f"write `key={survey.text(function)}`.")


def _unknown(survey: Survey, keyword: n.Keyword, name: str, known: tuple[str, ...]) -> None:
    message = f"`{name}` has no keyword `{keyword.name}`"
    near = nearest(keyword.name or "", known)
    if near:
        hint = f"write `{near}`; it takes: {listed(known)}."
        survey.complain("PL105", keyword.start, keyword.start + len(keyword.name or ""), message, hint)
    elif keyword.name in _PLACES:
        survey.at("PL105", keyword, message, f"write `{survey.text(keyword.value)}`, by position.")
    else:
        takes = f"takes: {listed(known)}" if known else "takes no keywords"
        survey.at("PL105", keyword, message, f"delete it; it {takes}.")


# ---- the plan's own functions


def _only_function(survey: Survey, name: n.Name) -> Function | None:
    """Return the one function that ``name`` can be, or nothing where it may be another."""
    binding = survey.names.of.get(name)
    functions = survey.functions.get(binding, []) if binding is not None else []
    return functions[0] if binding is not None and len(functions) == len(binding.writes) == 1 else None


def _own(survey: Survey, call: n.Call, name: str, function: Function) -> None:
    parameters = function.parameters
    places = [p.target.id for p in parameters.positional]
    named = [*places, *(p.target.id for p in parameters.keyword_only)]
    given = set(places[: len(call.args)])
    if len(call.args) > len(places) and parameters.star is None:
        message = f"`{name}` takes at most {len(places)} argument{'s' * (len(places) != 1)}, not {len(call.args)}"
        survey.at("PL107", call.args[len(places)], message, f"call it as `{_shown(survey, name, function)}`.")
        return
    by_position = frozenset(given)
    for keyword in call.keywords:
        wanted = keyword.name or ""
        if wanted in by_position:
            message = f"`{wanted}` of `{name}` is given twice"
            survey.at("PL120", keyword, message, "delete it, or the other one.")
            return
        if wanted not in named and parameters.double_star is None:
            _unknown(survey, keyword, name, tuple(one for one in named if one not in given))
            return
        given.add(wanted)
    needed = [p for p in (*parameters.positional, *parameters.keyword_only) if p.default is None]
    missing = [p.target.id for p in needed if p.target.id not in given]
    if missing:
        message = f"`{name}` needs {' and '.join(f'`{one}`' for one in missing)}"
        survey.at("PL106", call, message, f"call it as `{_shown(survey, name, function)}`.")


def _shown(survey: Survey, name: str, function: Function) -> str:
    items = function.parameters.in_slot_order()
    inside = survey.source[function.parameters.start : function.parameters.end] if items else ""
    return f"{name}({inside if len(inside) <= 80 else '...'})"
