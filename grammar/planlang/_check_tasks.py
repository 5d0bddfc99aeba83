"""Functions that run as tasks: they recurse into nothing, change nothing from outside, and read what was meant."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter

from . import _nodes as n
from ._check_attributes import asks_dropped, imported_names
from ._check_late_binding import check_late_binding
from ._handed import Handed, functions_of
from ._survey import Function, Survey, root_of
from ._vocabulary import Word

__all__ = ["changed_by", "check_tasks", "is_from_outside"]

_LIST_CHANGES = ("append", "extend", "insert", "pop", "remove", "sort", "reverse", "clear")
_CHANGES = frozenset((*_LIST_CHANGES, "update", "add", "discard", "setdefault"))
_COMPREHENSIONS = n.ListComp | n.SetComp | n.DictComp | n.Generator


def check_tasks(survey: Survey) -> None:
    """Judge recursion, and everything about the functions that words run as tasks."""
    reads = {node: survey.read_in(node) for node in survey.all(n.Def, n.Lambda)}
    _recursion(survey, reads)
    tasks: list[Function] = []
    for call in survey.all(n.Call):
        if survey.runs_tasks(call):
            tasks.extend(f for given in survey.handed(call) for f in survey.functions_in(given.argument))
            _called_at_once(survey, call)
            if not _too_many(survey, call):
                _parameters(survey, call)
                _not_functions(survey, call)
    _changes(survey, reads, tasks)
    _waiting_inside(survey)
    check_late_binding(survey)


# ---- recursion


def _recursion(survey: Survey, reads: dict[n.Node, list[n.Name]]) -> None:
    said: set[n.Node] = set()
    functions, of = survey.functions, survey.names.of
    calls = {
        f: list(dict.fromkeys(t for name in names for t in functions.get(of[name], []))) for f, names in reads.items()
    }
    for function in sorted(_endless(calls), key=lambda node: node.start):
        if function in said:
            continue
        path = _way_back(calls, function)
        if path:
            said.update(path)
            _say_recursion(survey, reads, path)


def _endless(calls: dict[n.Node, list[Function]]) -> list[n.Node]:
    """Return the functions that reach some function over and over: all but those whose calls come to an end."""
    left = {function: len(targets) for function, targets in calls.items()}
    callers: dict[n.Node, list[n.Node]] = {}
    for function, targets in calls.items():
        for target in targets:
            callers.setdefault(target, []).append(function)
    ending = [function for function, count in left.items() if not count]
    while ending:
        for caller in callers.get(ending.pop(), ()):
            left[caller] -= 1
            if not left[caller]:
                ending.append(caller)
    return [function for function, count in left.items() if count]


def _way_back(calls: dict[n.Node, list[Function]], start: n.Node) -> list[n.Node]:
    """Return the functions on a way from ``start`` to itself through names, ``start`` first; or nothing."""
    came: dict[n.Node, n.Node] = {}
    waiting = [start]
    while waiting:
        node = waiting.pop(0)
        for target in calls[node]:
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
    for given in survey.handed(call):
        argument, alone = given.argument, given.least > 0
        inner = argument.element if isinstance(argument, n.ListComp | n.Generator) else argument
        items = inner.items if isinstance(inner, n.ListDisplay | n.TupleDisplay) else [inner]
        loops = argument.clauses if isinstance(argument, n.ListComp | n.Generator) else []
        at_once = [i for i in items if isinstance(i, n.Call) and (alone or i is not argument) and i.callee == n.ALWAYS]
        if at_once:
            names = [clause.target for clause in loops]
            made = {i: f"lambda{_given(survey, i, names, given)}: {survey.text(i, 120)}" for i in at_once}
            message = f"this calls at once, one after another, before `{_word(call)}` starts"
            start, end, whole = _replaced(survey, made)
            survey.complain("PL113", start, end, message, f"write `{whole}`, to hand over {_functions_of(at_once)}.")
            return


def _too_many(survey: Survey, call: n.Call) -> bool:
    """Say whether a call has arguments for which there is no parameter, as ``parallel(items, function)`` has."""
    word = survey.word(call)
    kinds = [p.kind for p in _parameters_of(word)] if word is not None else []
    return Parameter.VAR_POSITIONAL not in kinds and len(call.args) > sum(kind in _POSITIONAL for kind in kinds)


def _word(call: n.Call) -> str:
    return call.function.id if isinstance(call.function, n.Name) else ""


def _functions_of(calls: list[n.Call]) -> str:
    return "functions" if len(calls) > 1 else "a function"


def _given(survey: Survey, item: n.Node, targets: list[n.Node], given: Handed) -> str:
    if given.least:
        return f" {', '.join(('v', 'item', 'index')[: given.least])}"
    used = _used(survey, item, targets)
    return f" {', '.join(f'{name}={name}' for name in used)}" if used else ""


def _replaced(survey: Survey, made: Mapping[n.Call, str]) -> tuple[int, int, str]:
    """Return the span of all that is replaced and its text with the replacements; the first alone where it is long."""
    nodes = sorted(made, key=lambda node: node.start)
    start, end, whole, at = nodes[0].start, nodes[-1].end, "", nodes[0].start
    for node in nodes:
        whole += survey.source[at : node.start] + made[node]
        at = node.end
    if len(whole) <= _LONGEST_REWRITE and "\n" not in whole:
        return start, end, whole
    return start, nodes[0].end, made[nodes[0]]


def _not_functions(survey: Survey, call: n.Call) -> None:
    """Name data where functions belong: texts and dicts of options, stages in a list, no stages at all."""
    word = survey.word(call)
    if word is None or not call.args or any(isinstance(a, n.Starred) for a in call.args):
        return
    if any(p.kind is Parameter.VAR_POSITIONAL and p.name in functions_of(word) for p in _parameters_of(word)):
        _stages(survey, call, word)
    for given in survey.handed(call):
        tasks = given.argument if not given.most else None
        for item in tasks.items if isinstance(tasks, n.ListDisplay | n.TupleDisplay) else ():
            if isinstance(item, n.Constant | n.FString | n.DictDisplay | n.ListDisplay | n.TupleDisplay):
                _no_function(survey, word, item)
                return


def _no_function(survey: Survey, word: Word, item: n.Node) -> None:
    asked = isinstance(item, n.FString) or (isinstance(item, n.Constant) and isinstance(item.value, str))
    asked = asked and "agent" in survey.vocabulary.words and survey.text(item) != "..."
    hint = f"write `lambda: agent({survey.text(item)})`." if asked else "put `lambda:` and a call in its place."
    survey.at("PL108", item, f"`{word.name}` runs functions, and this is none", hint)


def _parameters_of(word: Word) -> list[Parameter]:
    return [*word.signature.parameters.values()]


def _stages(survey: Survey, call: n.Call, word: Word) -> None:
    fixed = [p for p in word.signature.parameters.values() if p.kind in _POSITIONAL]
    if len(call.args) == len(fixed) and not call.keywords:
        survey.at("PL106", call, f"`{word.name}` needs a stage", "add one: `lambda item: ...`.")
    for stage in call.args[len(fixed) :]:
        if isinstance(stage, n.ListDisplay | n.TupleDisplay):
            inside = survey.source[stage.start + 1 : stage.end - 1]
            message = f"`{word.name}` takes its stages one by one, not in a list"
            short = (
                bool(inside.strip()) and len(inside) <= _LONGEST_REWRITE and "\n" not in inside and "`" not in inside
            )
            survey.at("PL108", stage, message, f"write `{inside}`." if short else "delete the `[` and its `]`.")


_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_LONGEST_REWRITE = 160


def _used(survey: Survey, node: n.Node, targets: list[n.Node]) -> list[str]:
    bound = {name.id for target in targets for name in survey.within(target) if isinstance(name, n.Name)}
    used = [name.id for name in survey.within(node) if isinstance(name, n.Name) and name.id in bound]
    return list(dict.fromkeys(used))


def _parameters(survey: Survey, call: n.Call) -> None:
    """Judge how many parameters each function has: as many as the word gives it arguments."""
    for given in survey.handed(call):
        for function in survey.functions_in(given.argument):
            needed = [p for p in function.parameters.positional if p.default is None]
            many = len(function.parameters.positional)
            if not given.most:
                if needed:
                    name = needed[0].target.id
                    message = f"`{_word(call)}` calls this with no arguments, but it needs `{name}`"
                    survey.at("PL118", _head(function), message, _bound(survey, function, name))
            elif (many < given.least and not function.parameters.star) or len(needed) > given.most:
                _wrong_stage(survey, call, given, function)


def _wrong_stage(survey: Survey, call: n.Call, given: Handed, function: Function) -> None:
    many, stage = len(function.parameters.positional), given.parameter.kind is Parameter.VAR_POSITIONAL
    what = "a stage" if stage else f"`{given.parameter.name}`"
    message = f"{what} of `{_word(call)}` takes {_counted(given)}, not {many}"
    shown = ", ".join(("v", "item", "index")[: given.most])
    hint = f"take the previous value, and if needed the item and its index: `lambda {shown}: ...`."
    hint = hint if stage else f"take what it is given: `lambda {shown}: ...`."
    if isinstance(function, n.Lambda) and many == 0 and survey.text(function.body) != "...":
        least = ", ".join(("v", "item", "index")[: given.least])
        value = "the previous value" if stage else "what it is called with"
        hint = f"write `lambda {least}: {survey.text(function.body)}`; it is given {value}."
    survey.at("PL118", _head(function), message, hint)


def _counted(given: Handed) -> str:
    words = ("no", "one", "two", "three")
    least, most = words[min(given.least, 3)], words[min(given.most, 3)]
    return f"{most} parameter{'s' * (given.most != 1)}" if least == most else f"{least} to {most} parameters"


def _bound(survey: Survey, function: Function, name: str) -> str:
    """Return how a thunk gets what it takes as a parameter."""
    loops = [outer for outer in survey.above(function) if isinstance(outer, n.For | _COMPREHENSIONS)]
    targets = [c.target for outer in loops for c in ([outer] if isinstance(outer, n.For) else outer.clauses)]
    bound = {x.id for target in targets for x in survey.within(target) if isinstance(x, n.Name)}
    if name not in bound:
        return f"hand over a function without parameters: `lambda: ...`, or bind `{name}` by default."
    if isinstance(function, n.Lambda) and len(function.parameters.in_slot_order()) == 1:
        return f"write `lambda {name}={name}: {survey.text(function.body, 120)}`."
    return f"bind it by default: `{name}={name}`."


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
            root = changed_by(survey, node)
            if root is not None and root not in said and is_from_outside(survey, root, function):
                said.add(root)
                message = f"this changes `{root.id}`, which belongs to the plan, from inside a task"
                hint = f"return the value, and change `{root.id}` with what the tasks returned."
                survey.at("PL111", root, message, hint)
        for name in reads[function]:
            waiting.extend(survey.functions.get(survey.names.of[name], []))


def changed_by(survey: Survey, node: n.Node) -> n.Name | None:
    """Return the name whose value ``node`` changes in place."""
    if isinstance(node, n.MethodCall) and node.name in _CHANGES:
        return root_of(node.receiver)
    if isinstance(node, n.Subscript):
        user = survey.parent.get(node)
        if (isinstance(user, n.Assign) and node in user.targets) or (
            isinstance(user, n.AugAssign) and user.target is node
        ):
            return root_of(node)
    return None


def is_from_outside(survey: Survey, name: n.Name, function: Function) -> bool:
    """Say whether a name that stands in ``function`` belongs to something around it."""
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
    imported = imported_names(survey)
    told = {fault.start for fault in survey.faults if fault.code == "PL114"}
    for generator in survey.all(n.Generator):
        starred = survey.parent[generator]
        if isinstance(starred, n.Starred) and starred.start in told:
            continue  # `parallel(*(agent(x) for x in xs))`: without its star it is a list
        if generator.body_waits and not _consumed(survey, generator) and not asks_dropped(survey, generator, imported):
            message = "a generator expression that waits for workers stands where nothing takes its items one by one"
            shown = survey.text(generator, 120)
            bare = shown[1:-1] if generator.start < generator.element.start else shown
            hint = (
                f"write `[{bare}]`, a list."
                if shown != "..." and "`" not in shown
                else "use a list: put it in `[...]`."
            )
            survey.at("PL122", generator, message, hint)
    for call in survey.all(n.Call, n.MethodCall):
        for value in _called_back(call):
            if any(function.body_waits for function in _functions(survey, value)):
                name = _name_of(call)
                made = _comprehension(survey, call, value)
                hint = "compute the values first, in a comprehension or with `parallel`, and use them here."
                place = call if made else value
                hint = f"write `{made}`." if made else hint
                survey.at("PL123", place, f"`{name}` cannot wait for the workers that this function asks", hint)


def _name_of(call: n.Call | n.MethodCall) -> str:
    if isinstance(call, n.MethodCall):
        return call.name
    return call.function.id if isinstance(call.function, n.Name) else ""


def _comprehension(survey: Survey, call: n.Call | n.MethodCall, function: n.Node) -> str:
    """Return what does the same as ``map`` or ``filter`` with a lambda, and can wait; or nothing."""
    word = _name_of(call)
    if word not in ("map", "filter") or len(call.args) != 2:
        return ""
    if not isinstance(function, n.Lambda) or len(function.parameters.in_slot_order()) != 1:
        return ""
    item = function.parameters.in_slot_order()[0].target.id
    body, items = survey.text(function.body), survey.text(call.args[1])
    if "..." in (body, items) or "`" in body + items:
        return ""
    if word == "filter":
        return f"[{item} for {item} in {items} if {body}]"
    user = survey.parent.get(call)
    thunk = f"lambda {item}={item}: " if user is not None and survey.runs_tasks(user) else ""
    return f"[{thunk}{body} for {item} in {items}]"


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
