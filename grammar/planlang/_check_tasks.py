"""Functions that run as tasks: they recurse into nothing, change nothing from outside, and read what was meant."""

from __future__ import annotations

from inspect import Parameter

from . import _nodes as n
from ._scopes import Binding
from ._survey import Function, Survey

__all__ = ["check_tasks"]

_LIST_CHANGES = ("append", "extend", "insert", "pop", "remove", "sort", "reverse", "clear")
_CHANGES = frozenset((*_LIST_CHANGES, "update", "add", "discard", "setdefault"))
_COMPREHENSIONS = n.ListComp | n.SetComp | n.DictComp | n.Generator


def check_tasks(survey: Survey) -> None:
    """Judge recursion, and everything about the functions that words run as tasks."""
    reads = {node: _read_in(survey, node) for node in survey.all(n.Def, n.Lambda)}
    _recursion(survey, reads)
    tasks: list[Function] = []
    for call in survey.all(n.Call):
        if survey.runs_tasks(call):
            tasks.extend(survey.thunks(call))
            _called_at_once(survey, call)
            _parameters(survey, call)
    _changes(survey, reads, tasks)
    _waiting_inside(survey)
    _late_binding(survey)


def _read_in(survey: Survey, function: n.Node) -> list[n.Name]:
    return [node for node in survey.within(function) if isinstance(node, n.Name) and _is_read(survey, node)]


def _is_read(survey: Survey, name: n.Name) -> bool:
    binding = survey.names.of.get(name)
    return binding is not None and name in binding.reads


# ---- recursion


def _recursion(survey: Survey, reads: dict[n.Node, list[n.Name]]) -> None:
    said: set[n.Node] = set()
    for function in sorted(reads, key=lambda node: node.start):
        if function in said:
            continue
        path = _way_back(survey, reads, function)
        if path:
            said.update(path)
            _say_recursion(survey, reads, path)


def _way_back(survey: Survey, reads: dict[n.Node, list[n.Name]], start: n.Node) -> list[n.Node]:
    """Return the functions on a way from ``start`` to itself through names, ``start`` first; or nothing."""
    came: dict[n.Node, n.Node] = {}
    waiting = [start]
    while waiting:
        node = waiting.pop(0)
        for name in reads[node]:
            for target in survey.functions.get(survey.names.of[name], []):
                if target is start:
                    path = [node]
                    while path[0] is not start:
                        path.insert(0, came[path[0]])
                    return path
                if target not in came:
                    came[target] = node
                    waiting.append(target)
    return []


def _say_recursion(survey: Survey, reads: dict[n.Node, list[n.Name]], path: list[n.Node]) -> None:
    first, last = path[0], path[-1]
    names = [n_ for n_ in reads[last] if first in survey.functions.get(survey.names.of[n_], [])]
    around = f" through {', '.join(f'`{_name(survey, node)}`' for node in path[1:])}" if len(path) > 1 else ""
    message = f"`{_name(survey, first)}` reaches itself{around}, and a plan may not recurse"
    hint = "go through the levels with `for level in range(8):` and keep the open items in a list."
    survey.at("PL110", names[0], message, hint)


def _name(survey: Survey, function: n.Node) -> str:
    if isinstance(function, n.Def):
        return function.target.id
    found = (b.name for b, functions in survey.functions.items() if function in functions)
    return next(found, "lambda")


# ---- what is handed over


def _called_at_once(survey: Survey, call: n.Call) -> None:
    """Name calls where functions belong: they would run one after another, before the word starts."""
    word = survey.word(call)
    if word is None or any(p.kind is Parameter.VAR_POSITIONAL for p in word.signature.parameters.values()):
        return
    for argument in call.args[:1]:
        inner = argument.element if isinstance(argument, n.ListComp | n.Generator) else argument
        items = inner.items if isinstance(inner, n.ListDisplay | n.TupleDisplay) else [inner]
        loops = argument.clauses if isinstance(argument, n.ListComp | n.Generator) else []
        for item in items:
            if isinstance(item, n.Call) and item is not argument and item.callee == n.ALWAYS:
                used = _used(survey, item, [clause.target for clause in loops])
                given = f" {', '.join(f'{name}={name}' for name in used)}" if used else ""
                message = f"this calls at once, one after another, before `{word.name}` starts"
                survey.at("PL113", item, message, f"hand over a function: `lambda{given}: {survey.text(item)}`.")
                return


def _used(survey: Survey, node: n.Node, targets: list[n.Node]) -> list[str]:
    bound = {name.id for target in targets for name in survey.within(target) if isinstance(name, n.Name)}
    used = [name.id for name in survey.within(node) if isinstance(name, n.Name) and name.id in bound]
    return list(dict.fromkeys(used))


def _parameters(survey: Survey, call: n.Call) -> None:
    """Thunks take nothing; stages take one to three: previous value, item, index."""
    word = survey.word(call)
    if word is None:
        return
    stages = any(p.kind is Parameter.VAR_POSITIONAL for p in word.signature.parameters.values())
    for function in survey.thunks(call):
        needed = [p for p in function.parameters.positional if p.default is None]
        many = len(function.parameters.positional)
        if stages and not function.parameters.star and (many == 0 or len(needed) > 3):
            message = f"a stage of `{word.name}` takes one to three parameters, not {many}"
            survey.at(
                "PL118", _head(function), message, "take the previous value, the item and its index: `lambda v: ...`."
            )
        elif not stages and needed and len(call.args) == 1:
            name = needed[0].target.id
            message = f"`{word.name}` calls this with no arguments, but it needs `{name}`"
            survey.at("PL118", _head(function), message, f"bind it by default: `{name}={name}`.")


def _head(function: Function) -> n.Node:
    return function.target if isinstance(function, n.Def) else function


# ---- changes from inside a task


def _changes(survey: Survey, reads: dict[n.Node, list[n.Name]], tasks: list[Function]) -> None:
    said: set[n.Node] = set()
    seen: set[n.Node] = set()
    waiting: list[Function] = list(tasks)
    while waiting:
        function = waiting.pop(0)
        if function in seen:
            continue
        seen.add(function)
        for node in survey.within(function):
            root = _changed(survey, node)
            if root is not None and root not in said and _from_outside(survey, root, function):
                said.add(root)
                message = f"this changes `{root.id}`, which belongs to the plan, from inside a task"
                hint = f"return the value, and change `{root.id}` with what the tasks returned."
                survey.at("PL111", root, message, hint)
        for name in reads[function]:
            waiting.extend(survey.functions.get(survey.names.of[name], []))


def _changed(survey: Survey, node: n.Node) -> n.Name | None:
    """Return the name whose value ``node`` changes in place."""
    if isinstance(node, n.MethodCall) and node.name in _CHANGES:
        return _root(node.receiver)
    if isinstance(node, n.Subscript):
        user = survey.parent.get(node)
        if (isinstance(user, n.Assign) and node in user.targets) or (
            isinstance(user, n.AugAssign) and user.target is node
        ):
            return _root(node)
    return None


def _root(node: n.Node) -> n.Name | None:
    while isinstance(node, n.Subscript):
        node = node.value
    return node if isinstance(node, n.Name) else None


def _from_outside(survey: Survey, name: n.Name, function: Function) -> bool:
    binding = survey.names.of.get(name)
    if binding is None:
        return name.kind == n.WORD
    if binding.frame is None:
        return True
    owner = survey.owner.get(id(binding.frame.scope))
    return owner is None or (owner is not function and function not in survey.above(owner))


# ---- waiting where nothing can wait

_CONSUMERS = frozenset(("any", "all", "sum", "min", "max", "list", "tuple", "set", "dict", "sorted"))
_CALLS_BACK = frozenset(("sorted", "min", "max"))


def _waiting_inside(survey: Survey) -> None:
    for generator in survey.all(n.Generator):
        if generator.body_waits and not _consumed(survey, generator):
            message = "a generator expression that waits for workers stands where nothing takes its items one by one"
            survey.at("PL122", generator, message, "use a list: write it in `[...]`.")
    for call in survey.all(n.Call, n.MethodCall):
        for value in _called_back(call):
            if any(function.body_waits for function in _functions(survey, value)):
                name = call.name if isinstance(call, n.MethodCall) else call.function.id
                hint = "compute the values first, in a comprehension or with `parallel`, and use them here."
                survey.at("PL123", value, f"`{name}` cannot wait for the workers that this function asks", hint)


def _consumed(survey: Survey, generator: n.Node) -> bool:
    user = survey.parent.get(generator)
    if isinstance(user, n.For | n.Clause):
        return user.iterable is generator
    if isinstance(user, n.MethodCall):
        return user.name == "join" and user.args[:1] == [generator]
    if not isinstance(user, n.Call) or not isinstance(user.function, n.Name):
        return False
    return user.function.id in _CONSUMERS or survey.runs_tasks(user)


def _called_back(call: n.Call | n.MethodCall) -> list[n.Node]:
    """Return the arguments that ``call``, of a builtin or of ``sort``, calls under way."""
    keys: list[n.Node] = [keyword.value for keyword in call.keywords if keyword.name == "key"]
    if isinstance(call, n.MethodCall):
        return keys if call.name == "sort" else []
    name = call.function.id if isinstance(call.function, n.Name) and call.function.kind == n.BUILTIN else ""
    if name in ("map", "filter"):
        return call.args[:1]
    return keys if name in _CALLS_BACK else []


def _functions(survey: Survey, value: n.Node) -> list[Function]:
    if isinstance(value, n.Lambda):
        return [value]
    binding = survey.names.of.get(value) if isinstance(value, n.Name) else None
    return survey.functions.get(binding, []) if binding is not None else []


# ---- late binding


def _late_binding(survey: Survey) -> None:
    for function in survey.all(n.Lambda, n.Def):
        late = [b for b in _loop_names(survey, function) if _runs_after(survey, function, b)]
        if late:
            _say_late(survey, function, list(dict.fromkeys(b.name for b in late)))


def _loop_names(survey: Survey, function: Function) -> list[Binding]:
    """Return what ``function`` reads from loops around it, not by default."""
    body = function.body if isinstance(function.body, list) else [function.body]
    found: dict[Binding, None] = {}
    for statement in body:
        for name in _read_in(survey, statement):
            binding = survey.names.of[name]
            owner = survey.owner.get(id(binding.frame.scope)) if binding.frame else None
            inside = owner is not None and (owner is function or function in survey.above(owner))
            if not inside and _loop(survey, function, binding) is not None:
                found[binding] = None
    return list(found)


def _loop(survey: Survey, function: n.Node, binding: Binding) -> n.Node | None:
    """Return the innermost loop around ``function`` that binds ``binding``."""
    for outer in survey.above(function):
        if isinstance(outer, _COMPREHENSIONS) and binding.loop is outer:
            return outer
        if isinstance(outer, n.For):
            targets = [survey.names.of.get(x) for x in survey.within(outer.target) if isinstance(x, n.Name)]
            if binding in targets:
                return outer
    return None


def _runs_after(survey: Survey, function: Function, binding: Binding) -> bool:
    """Say whether a word runs ``function`` only when the loop that binds ``binding`` has moved on."""
    loop = _loop(survey, function, binding)
    for value in _uses(survey, function):
        if any(survey.runs_tasks(outer) for outer in _between(survey, value, loop)):
            continue
        if _reaches_tasks(survey, value, loop):
            return True
    return False


def _uses(survey: Survey, function: Function) -> list[n.Node]:
    """Return where the function stands as a value: itself, or its name."""
    if isinstance(function, n.Lambda) and not isinstance(survey.parent.get(function), n.Assign):
        return [function]
    bindings = [b for b, functions in survey.functions.items() if function in functions]
    return [read for binding in bindings for read in binding.reads]


def _between(survey: Survey, node: n.Node, loop: n.Node | None) -> list[n.Node]:
    found: list[n.Node] = []
    for outer in survey.above(node):
        if outer is loop:
            return found
        found.append(outer)
    return []


def _reaches_tasks(survey: Survey, value: n.Node, loop: n.Node | None) -> bool:
    """Follow ``value`` out of ``loop``: into a call of a word that runs tasks, or a name handed to one outside."""
    for outer in survey.above(value):
        if _uses_up(survey, outer):
            return False
        if survey.runs_tasks(outer):
            return loop is None or loop not in survey.above(outer)
        holder = _holder(survey, outer, value)
        if holder is not None:
            return any(_handed_over(survey, read, loop) for read in holder.reads)
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
        root = _root(outer.targets[0])
    elif isinstance(outer, n.AugAssign):
        root = _root(outer.target)
    elif isinstance(outer, n.MethodCall) and outer.name in ("append", "extend", "insert", "add"):
        root = _root(outer.receiver)
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
        hint = f"bind it by default: `lambda {together}: {survey.text(function.body)}`."
        survey.at("PL112", function, message, hint)
    else:
        hint = f"bind it by default: `def {function.target.id}({given}):`."
        survey.at("PL112", function.target, message, hint)


def _has_own(function: n.Lambda) -> bool:
    return bool(function.parameters.in_slot_order())
