"""Names: known, bound before they are read, not a word's; no leading underscore; ``result`` assigned."""

from __future__ import annotations

from collections.abc import Iterable

from . import _nodes as n
from ._check_attributes import asks_dropped, calls_word, imported_names
from ._check_calls import one_text
from ._modules import hint_of_function, without_line, without_stop
from ._names import BUILTINS, ELSEWHERE, NOT_BUILTINS, RENAMED
from ._near import listed, nearest
from ._refusals import MODULES
from ._rewrites import of_builtin
from ._scopes import Binding
from ._survey import Survey

__all__ = ["check_names"]


_MOST_SUGGESTIONS = 20
"""Looking for the name that was meant costs the more, the more there are; nobody reads that many problems."""


def check_names(survey: Survey) -> None:
    """Judge every name of the plan; one problem a name, at its first place."""
    _underscores(survey)
    _unknown(survey)
    _early(survey)
    for binding in survey.names.bindings:
        if binding.name in survey.vocabulary:
            _rebound_word(survey, binding)
        elif binding.name in BUILTINS:
            _rebound_builtin(survey, binding)
    _places(survey)
    _result(survey)


def _first(names: Iterable[n.Name]) -> list[n.Name]:
    first: dict[str, n.Name] = {}
    for name in sorted(names, key=lambda name: name.start):
        first.setdefault(name.id, name)
    return list(first.values())


def _private(name: str) -> bool:
    return name.startswith("_") and name != "_"


def _underscores(survey: Survey) -> None:
    names = [name for name in survey.all(n.Name) if _private(name.id)]
    for refused in survey.all(n.Refused):
        names.extend(name for name in refused.binds if _private(name.id))
    for keyword in survey.all(n.Keyword):
        name = keyword.name or ""
        names += [n.Name(keyword.start, keyword.start + len(name), name)] if _private(name) else []
    imported = imported_names(survey)
    for name in _first(names):
        bare = name.id.strip("_") or "value"
        hint = (
            f"name it `{bare}`, here and wherever it is meant."
            if name in survey.names.of
            else "leave it out: a plan has only its own names."
        )
        place: n.Node = name
        compared = survey.parent.get(name)
        if name.id == "__name__" and isinstance(compared, n.Compare):
            place, hint = compared, "write `True`, or leave this `if` line out: a plan always runs from its first line."
        elif asks_dropped(survey, name, imported):
            continue  # logging.getLogger(__name__): the import is what there is to say
        survey.at("PL062", place, f"`{name.id}`: names may not start with an underscore", hint)


def _unknown(survey: Survey) -> None:
    inline = {name.id for node in survey.all(n.Refused) for name in node.binds}
    inline |= _lost_parameters(survey)
    known = survey.known()
    bound = {binding.name for binding in survey.names.bindings}
    told = 0
    for name in _first(survey.names.unknown):
        if name.id in inline or _private(name.id) or not name.id.isascii() or _is_module(survey, name):
            continue
        if name.id == "result" and survey.names.result == "never":
            continue  # said where the plan is found to assign none
        if name.id in NOT_BUILTINS:
            _say_not_builtin(survey, name)
        elif survey.whole:
            told += 1
            _say_unknown(survey, name, known if told <= _MOST_SUGGESTIONS else [], name.id in bound)


def _is_module(survey: Survey, name: n.Name) -> bool:
    """A module's function is one fault, told where it is used; so is a word that is called as if it were a method."""
    user = survey.parent[name]
    asked = user.value if isinstance(user, n.Attribute) else user.receiver if isinstance(user, n.MethodCall) else None
    return asked is name and (name.id in MODULES or calls_word(survey, user))


def _lost_parameters(survey: Survey) -> set[str]:
    """Return the parameters of lambdas that stand on the left of ``=``, which swallowed the rest of their body."""
    lost = [node.value for node in survey.all(n.BadTarget) if isinstance(node.value, n.Lambda)]
    return {parameter.target.id for node in lost for parameter in node.parameters.in_slot_order()}


def _say_not_builtin(survey: Survey, name: n.Name) -> None:
    message = f"`{name.id}` is not part of the plan language"
    call = survey.parent.get(name)
    made = of_builtin(survey, call) if isinstance(call, n.Call) and call.function is name else ""
    if call is not None and made:
        survey.at("PL115", call, message, f"write `{made}`.")
    elif name.id == "print" and "log" in survey.vocabulary.words:
        _say_print(survey, name, message)
    elif name.id in _STOPS and isinstance(survey.parent.get(call or name), n.ExprStatement):
        survey.at("PL115", call or name, message, without_stop(survey, survey.parent[call or name]))
    else:
        survey.at("PL115", name, message, f"{NOT_BUILTINS[name.id]}.")


_STOPS = ("exit", "quit", "breakpoint", "help")


def _say_print(survey: Survey, name: n.Name, message: str) -> None:
    """Say how to write a ``print``; `log` takes one text and neither separators nor ends."""
    call = survey.parent.get(name)
    if not isinstance(call, n.Call) or call.function is not name:
        survey.at("PL115", name, message, "write `log`.")
    elif not call.args:
        statement = survey.parent[call]
        alone = isinstance(statement, n.ExprStatement)
        survey.at("PL115", call, message, without_line(survey, statement) if alone else "write `None`.")
    elif len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], n.Starred):
        survey.at("PL115", name, message, "write `log`.")
    else:
        made = _printed(survey, call.args)
        survey.at("PL115", call, message, f"write `log({made})`." if made else "use `log(...)` with one text of all.")


def _printed(survey: Survey, args: list[n.Node]) -> str:
    """Return what ``print`` makes of its arguments, as one argument of `log`; or nothing."""
    if len(args) > 1:
        return one_text(survey, args)
    if isinstance(args[0], n.Starred):
        return f'" ".join([str(x) for x in {survey.text(args[0].value)}])'
    return survey.text(args[0])


def _say_unknown(survey: Survey, name: n.Name, known: list[str], bound_elsewhere: bool) -> None:
    message, renamed = f"nothing is named `{name.id}`", _renamed(survey, name)
    instead = "" if bound_elsewhere or renamed else hint_of_function(survey, name)
    if instead:
        survey.at("PL101", survey.parent[name], message, instead)
        return
    near = nearest(name.id, known)
    if bound_elsewhere:
        hint = "assign it out here: what a function or a comprehension binds ends with it, and `return` hands it out."
    elif renamed:
        hint = f"write `{renamed}`."
    elif name.id in ELSEWHERE:
        hint = f"{ELSEWHERE[name.id]}."
    elif near:
        hint = f"write `{near}`."
    elif _in_field(survey, name):
        hint = "assign it before; if the braces belong to the text, double them: `{{` and `}}`."
    else:
        words = listed([*survey.vocabulary.words, *survey.vocabulary.values], 24)
        hint = f"assign it before, or use one of the words: {words}."
    survey.at("PL101", name, message, hint)


def _renamed(survey: Survey, name: n.Name) -> str:
    """Return what a function of another library or language is called here, where it is called, or nothing."""
    call, new = survey.parent.get(name), RENAMED.get(name.id, "")
    called = isinstance(call, n.Call) and call.function is name
    return new if called and (new in BUILTINS or new in survey.vocabulary) else ""


def _in_field(survey: Survey, name: n.Name) -> bool:
    user = survey.parent.get(name)
    user = survey.parent.get(user) if isinstance(user, n.TupleDisplay) else user
    return isinstance(user, n.Field)


def _early(survey: Survey) -> None:
    for name in _first(survey.names.early):
        if not survey.whole or _private(name.id) or name.id in survey.vocabulary:
            continue  # a word that is assigned to is said to be one
        binding = survey.names.of[name]
        hint = f"assign `{name.id}` before this line."
        if binding in survey.functions:
            hint = f"move the `def {name.id}` above this line."
        elif binding.frame is not None and _outer(survey, name.id):
            hint = f"pass `{name.id}` as a parameter and `return` the new value."
        survey.at("PL102", name, f"`{name.id}` is read before anything is assigned to it", hint)


def _outer(survey: Survey, name: str) -> bool:
    return any(binding.name == name and binding.frame is None for binding in survey.names.bindings)


def _rebound_word(survey: Survey, binding: Binding) -> None:
    place = binding.writes[0] if binding.writes else None
    if place is None:
        return
    new = f"my_{binding.name}"
    at_module = binding.frame is None or binding.frame.scope is survey.module.scope
    called = any(_is_called(survey, read) for read in binding.reads)
    if at_module or called:
        message = f"`{binding.name}` is a word of this plan and cannot be assigned to"
        survey.at("PL103", place, message, f"choose another name: write `{new}` here and wherever it is meant.")
    else:
        message = f"`{binding.name}` hides the word of that name in this function"
        survey.at("PL202", place, message, f"call it `{new}` if the word may be needed there.")


def _rebound_builtin(survey: Survey, binding: Binding) -> None:
    call = next((read for read in binding.reads if _is_called(survey, read)), None)
    if call is None or not binding.writes or binding in survey.functions:
        return
    line = survey.source.count("\n", 0, binding.writes[0].start) + 1
    message = f"`{binding.name}` is called here, but line {line} gave the builtin's name to something else"
    survey.at("PL203", call, message, f"rename the other one: `{binding.name}_value`.")


def _is_called(survey: Survey, name: n.Name) -> bool:
    call = survey.parent.get(name)
    return isinstance(call, n.Call) and call.function is name


def _places(survey: Survey) -> None:
    for node in survey.all(n.Break, n.Continue):
        if not _in_loop(survey, node):
            word = "break" if isinstance(node, n.Break) else "continue"
            survey.at("PL024", node, f"`{word}` stands outside of any loop", "write `pass`, or move it into a `for`.")
    for node in survey.all(n.Return):
        if not any(isinstance(outer, n.Def) for outer in survey.above(node)):
            _top_level_return(survey, node)


def _in_loop(survey: Survey, node: n.Node) -> bool:
    inner = node
    for outer in survey.above(node):
        if isinstance(outer, n.Def):
            return False
        if isinstance(outer, n.For) and inner not in outer.orelse:
            return True
        if isinstance(outer, n.Refused) and outer.kind == "while":
            return True
        inner = outer
    return False


def _top_level_return(survey: Survey, node: n.Return) -> None:
    value = survey.text(node.value) if node.value is not None else ""
    at_end = survey.parent[node] is survey.module
    after = "" if at_end else " and put the lines after it in an `else`"
    message = "`return` stands outside of any `def`; a plan gives its value in `result`"
    if value == "result":
        survey.at("PL025", node, message, "delete this line: `result` has its value already.")
        return
    if node.value is not None:
        survey.complain("PL025", node.start, node.start + len("return"), message, f"write `result =` for it{after}.")
        return
    survey.at("PL025", node, message, f"write `result = None`{after}.")


def _result(survey: Survey) -> None:
    if survey.names.result == "always" or not survey.whole:
        return
    last = survey.module.body[-1] if survey.module.body else survey.module
    if survey.names.result == "maybe":
        message = "`result` is not assigned on every way through the plan"
        survey.complain("PL201", last.start, _line_end(survey, last), message, "write `result = None` at the start.")
    elif not any(fault.code == "PL025" for fault in survey.faults):
        message = "the plan never assigns `result`, which is what it gives back"
        meant = next((name for name in survey.names.unknown if name.id == "result"), None)
        if meant is not None:
            place = survey.parent.get(meant, meant)
            survey.at("PL109", place, message, _assigned(survey, place, meant))
            return
        hint = f"end it with `result = {_last_value(survey)}`."
        if isinstance(last, n.ExprStatement):
            shown = survey.text(last.value)
            hint = (
                f"write `result = {shown}`."
                if "\n" not in shown + "." and shown != "..."
                else "put `result = ` before it."
            )
        survey.complain("PL109", last.start, _line_end(survey, last), message, hint)


def _assigned(survey: Survey, place: n.Node, name: n.Name) -> str:
    """Return how ``result`` is assigned what ``place`` seems to give it."""
    value = None
    if isinstance(place, n.Compare) and place.ops == ["=="] and place.operands[0] is name:
        value = place.operands[1]
    if isinstance(place, n.Call) and place.function is name and len(place.args) == 1:
        value = place.args[0]
    if value is None or not isinstance(survey.parent.get(place), n.ExprStatement):
        return "assign it first: `result = []` or what it should be."
    return f"write `result = {survey.text(value)}`."


def _line_end(survey: Survey, node: n.Node) -> int:
    end = survey.source.find("\n", node.start)
    return node.end if end < 0 else min(end, node.end)


def _last_value(survey: Survey) -> str:
    for statement in reversed(survey.module.body):
        if isinstance(statement, n.Assign) and isinstance(statement.targets[0], n.Name):
            return statement.targets[0].id
        if isinstance(statement, n.ExprStatement):
            return survey.text(statement.value)
        if isinstance(statement, n.Def):
            return _called(survey, statement)
    return "None"


def _called(survey: Survey, function: n.Def) -> str:
    needed = [p.target.id for p in function.parameters.positional if p.default is None]
    given = [name if name in survey.vocabulary else "None" for name in needed]
    return f"{function.target.id}({', '.join(given)})"
