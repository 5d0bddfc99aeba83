"""Functions that read a loop's variable and run as tasks when the loop has moved on: all would see its last value.

A function made in a loop is followed to where a word runs it: there and then, which is fine, or out of the loop, in a
list that grows or that a comprehension makes.
"""

from __future__ import annotations

from . import _nodes as n
from ._scopes import Binding
from ._survey import Function, Survey, root_of

__all__ = ["check_late_binding"]

_Known = dict[tuple[Binding, n.Node | None], bool]
"""Whether what a name holds is handed to a word that runs tasks, after a loop: asked again for all it holds."""
_COMPREHENSIONS = n.ListComp | n.SetComp | n.DictComp | n.Generator


def check_late_binding(survey: Survey) -> None:
    """Name every function that is run as a task after the loop whose variable it reads."""
    known: _Known = {}
    for function in survey.all(n.Lambda, n.Def):
        late = [b for b in _loop_names(survey, function) if _runs_after(survey, function, b, known)]
        if late:
            _say_late(survey, function, list(dict.fromkeys(b.name for b in late)))


def _loop_names(survey: Survey, function: Function) -> list[Binding]:
    """Return what ``function`` reads from loops around it, not by default."""
    if not any(isinstance(outer, n.For | _COMPREHENSIONS) for outer in survey.above(function)):
        return []
    body = function.body if isinstance(function.body, list) else [function.body]
    read = dict.fromkeys(survey.names.of[name] for statement in body for name in survey.read_in(statement))
    found: list[Binding] = []
    for binding in read:
        owner = survey.owner.get(id(binding.frame.scope)) if binding.frame else None
        inside = owner is not None and (owner is function or function in survey.above(owner))
        if not inside and _loop(survey, function, binding) is not None:
            found.append(binding)
    return found


def _loop(survey: Survey, function: n.Node, binding: Binding) -> n.Node | None:
    """Return the innermost loop around ``function`` that binds ``binding``."""
    for outer in survey.above(function):
        if isinstance(outer, _COMPREHENSIONS) and binding.loop is outer:
            return outer
        if isinstance(outer, n.For):
            targets = [survey.names.of.get(x) for x in survey.within(outer.target) if isinstance(x, n.Name)]
            if binding in targets or _made_in(outer, binding):
                return outer
    return None


def _made_in(loop: n.For, binding: Binding) -> bool:
    """Say whether every round of ``loop`` gives the name a new value, and nothing else does."""
    begin, end = loop.body[0].start, loop.body[-1].end
    return bool(binding.writes) and all(begin <= name.start < end for name in binding.writes)


def _runs_after(survey: Survey, function: Function, binding: Binding, known: _Known) -> bool:
    """Say whether a word runs ``function`` only when the loop that binds ``binding`` has moved on."""
    loop = _loop(survey, function, binding)
    for value in _uses(survey, function):
        if any(survey.runs_tasks(outer) for outer in _between(survey, value, loop)):
            continue
        if _reaches_tasks(survey, value, loop, known):
            return True
    return False


def _uses(survey: Survey, function: Function) -> list[n.Node]:
    """Return where the function stands as a value: itself, or its name."""
    bindings = [b for b, functions in survey.functions.items() if function in functions]
    if isinstance(function, n.Lambda) and not bindings:
        return [function]
    return [read for binding in bindings for read in binding.reads]


def _between(survey: Survey, node: n.Node, loop: n.Node | None) -> list[n.Node]:
    found: list[n.Node] = []
    for outer in survey.above(node):
        if outer is loop:
            return found
        found.append(outer)
    return []


def _reaches_tasks(survey: Survey, value: n.Node, loop: n.Node | None, known: _Known) -> bool:
    """Follow ``value`` out of ``loop``: into a call of a word that runs tasks, or a name handed to one outside."""
    for outer in survey.above(value):
        if _uses_up(survey, outer):
            return False
        if survey.runs_tasks(outer):
            return loop is None or loop not in survey.above(outer)
        holder = _holder(survey, outer, value)
        if holder is not None:
            if (holder, loop) not in known:
                known[holder, loop] = any(_handed_over(survey, read, loop) for read in holder.reads)
            return known[holder, loop]
    return False


def _uses_up(survey: Survey, outer: n.Node) -> bool:
    """Say whether the function goes no further than ``outer``: only ``list`` and the like pass it on."""
    if not isinstance(outer, n.Lambda | n.Def | n.Module | n.Call) or survey.runs_tasks(outer):
        return False
    return not (isinstance(outer, n.Call) and isinstance(outer.function, n.Name) and outer.function.id in _PASS_ON)


_PASS_ON = frozenset(("list", "tuple", "reversed", "sorted", "flatten"))


def _holder(survey: Survey, outer: n.Node, value: n.Node) -> Binding | None:
    """Return the name whose value ``outer`` puts ``value`` into."""
    if isinstance(outer, n.Assign):
        root = root_of(outer.targets[0])
    elif isinstance(outer, n.AugAssign):
        root = root_of(outer.target)
    elif isinstance(outer, n.MethodCall) and outer.name in ("append", "extend", "insert", "add"):
        root = root_of(outer.receiver)
    else:
        return None
    return survey.names.of.get(root) if root is not None else None


def _handed_over(survey: Survey, read: n.Name, loop: n.Node | None) -> bool:
    around = list(survey.above(read))
    return (loop is None or loop not in around) and any(survey.runs_tasks(outer) for outer in around)


def _say_late(survey: Survey, function: Function, names: list[str]) -> None:
    shown = ", ".join(f"`{name}`" for name in names)
    given = ", ".join(f"{name}={name}" for name in names)
    message = f"every task would see the last {shown}: the function reads it when it runs, after the loop"
    if isinstance(function, n.Lambda):
        own = survey.source[function.parameters.start : function.parameters.end] if _has_own(function) else ""
        together = f"{own}, {given}" if own else given
        body = survey.text(function.body, 160)
        hint = f"write `lambda {together}: {body}`, which binds it by default."
        hint = hint if body != "..." and "`" not in body else f"bind it by default: `lambda {together}: ...`."
        survey.at("PL112", function, message, hint)
    else:
        if function.parameters.in_slot_order():
            hint = f"bind it by default: add `{given}` to the parameters of `{function.target.id}`."
            survey.at("PL112", function.target, message, hint)
            return
        colon = survey.source.find(":", function.target.end)
        hint = f"write `{function.target.id}({given})`, which binds it by default."
        survey.complain("PL112", function.target.start, colon, message, hint)


def _has_own(function: n.Lambda) -> bool:
    return bool(function.parameters.in_slot_order())
