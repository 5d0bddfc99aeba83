"""Workers that are asked one after another although none needs what an earlier one gave.

A list of calls, or a loop that only gathers what its workers say, takes as long as all of them together; `parallel`
takes as long as the slowest. Nothing is said where a step may depend on another one: where it reads what the loop
changes, where it looks at what is left of the budget, where it may stop early, and where the plan's tasks run at once
as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from . import _nodes as n
from ._bound import target_names
from ._check_tasks import changed_by, is_from_outside
from ._scopes import Binding
from ._survey import Function, Survey

__all__ = ["advise_on_sequence"]

_MESSAGE = "these workers are asked one after another, and none needs what another one gave"
_AT_ONCE = frozenset(("list", "tuple", "set", "sorted", "sum"))
"""Builtins that ask for every item of a generator."""
_GATHERS = frozenset(("append", "extend", "add", "insert"))
_IN_ORDER = frozenset(("budget", "phase"))
"""Words that give something else, or mean something else, when all is asked at once."""
_LONGEST = 140


def advise_on_sequence(survey: Survey) -> list[n.Node]:
    """Note every comprehension and loop whose workers could all be asked at once, and return them."""
    loops = [loop for loop in survey.all(n.ListComp, n.Generator, n.For) if loop.waits or _body_waits(loop)]
    said: list[n.Node] = []
    if not loops or "parallel" not in survey.vocabulary.words:
        return said
    steps, alike = _Steps(survey), [fault.start for fault in survey.faults if fault.code == "PL207"]
    for loop in sorted(loops, key=lambda node: (node.start, -node.end)):
        if any(outer in said for outer in survey.above(loop)) or steps.in_a_task(loop):
            continue
        if any(loop.start <= start < loop.end for start in alike):  # what is asked comes first, then when
            continue
        hint = _of_loop(survey, steps, loop) if isinstance(loop, n.For) else _of_items(survey, steps, loop)
        if hint:
            said.append(loop)
            survey.at("PL213", loop, _MESSAGE, hint)
    return said


def _body_waits(loop: n.Node) -> bool:
    return isinstance(loop, n.Generator) and loop.body_waits


class _Steps:
    """What the parts of a plan do that are run again and again."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self._reads: dict[n.Node, tuple[bool, set[Binding]]] = {}
        handed = [given.argument for call in survey.all(n.Call) for given in survey.handed(call)]
        self._tasks = self._reached(function for argument in handed for function in survey.functions_in(argument))

    def in_a_task(self, node: n.Node) -> bool:
        """Say whether a node is in a function that a word runs as a task, beside others."""
        return any(outer in self._tasks for outer in self.survey.above(node))

    def asks(self, parts: Iterable[n.Node]) -> list[n.Call]:
        """Return the calls in these parts that ask a worker there and then, themselves or in a function of the plan."""
        calls = [node for part in parts for node in _at_once(part) if isinstance(node, n.Call)]
        return [c for c in calls if self.survey.spends(c) or any(map(self._spends_in, self._called(c)))]

    def stand_alone(self, parts: list[n.Node], changed: set[Binding]) -> bool:
        """Say whether each run of these parts does the same whatever the others did.

        :param changed: names whose values are others after each run.
        """
        nodes = [node for part in parts for node in self.survey.within(part)]
        called = self._reached(function for node in nodes for function in self._called(node))
        return not any(map(_depends, nodes)) and not any(self._differs(function, changed) for function in called)

    def _differs(self, function: Function, changed: set[Binding]) -> bool:
        """Say whether a function may do something else when others have run before."""
        known = self._reads.get(function)
        if known is None:
            inside = [*self.survey.within(function)]
            roots = [root for node in inside if (root := changed_by(self.survey, node)) is not None]
            free = not any(map(_depends, inside)) and not any(is_from_outside(self.survey, r, function) for r in roots)
            read = {self.survey.names.of[name] for name in self.survey.read_in(function)}
            known = self._reads[function] = (free, read)
        free, read = known
        return not free or bool(changed & read)

    def _called(self, node: n.Node) -> list[Function]:
        if not isinstance(node, n.Call) or not isinstance(node.function, n.Name):
            return []
        binding = self.survey.names.of.get(node.function)
        return self.survey.functions.get(binding, []) if binding is not None else []

    def _spends_in(self, function: Function) -> bool:
        return function.body_waits and any(map(self.survey.spends, self.survey.within(function)))

    def _reached(self, functions: Iterable[Function]) -> set[Function]:
        """Return these functions and all that they read."""
        found: set[Function] = set()
        waiting = list(functions)
        while waiting:
            function = waiting.pop()
            if function not in found:
                found.add(function)
                for name in self.survey.read_in(function):
                    waiting.extend(self.survey.functions.get(self.survey.names.of[name], []))
        return found


# ---- comprehensions


def _of_items(survey: Survey, steps: _Steps, loop: n.ListComp | n.Generator) -> str:
    """Return what to write instead of a list of calls, or nothing where that would not be the same."""
    if isinstance(loop, n.Generator) and not _takes_all(survey, loop):
        return ""
    conditions = [condition for clause in loop.clauses for condition in clause.conditions]
    later = [clause.iterable for clause in loop.clauses[1:]]
    used = _used(survey, loop.element, [clause.target for clause in loop.clauses])
    if (
        not used
        or any(part.waits for part in [*conditions, *later])
        or _is_short([clause.iterable for clause in loop.clauses])
    ):
        return ""
    parts = [loop.element, *conditions, *later]
    changes = any(changed_by(survey, node) is not None for part in parts for node in survey.within(part))
    if changes or not steps.asks([loop.element]) or not steps.stand_alone(parts, set()):
        return ""
    bound = ", ".join(f"{name}={name}" for name in used)
    clauses = survey.source[loop.clauses[0].start : loop.clauses[-1].end]
    return _written(f"parallel([lambda {bound}: {_shown(survey, loop.element)} {clauses}])")


def _takes_all(survey: Survey, generator: n.Generator) -> bool:
    user = survey.parent.get(generator)
    if isinstance(user, n.MethodCall):
        return user.name == "join" and user.args == [generator]
    return isinstance(user, n.Call) and user.args == [generator] and _names_one_of(user.function, _AT_ONCE)


def _is_short(iterables: list[n.Node]) -> bool:
    """Say whether there is one item at most."""
    return all(isinstance(one, n.ListDisplay | n.TupleDisplay) and len(one.items) < 2 for one in iterables)


# ---- loops


def _of_loop(survey: Survey, steps: _Steps, loop: n.For) -> str:
    """Return what to write instead of a loop that gathers what its workers say, or nothing where it does more."""
    if loop.orelse or _is_short([loop.iterable]) or _are_rounds(survey, loop):
        return ""
    statements = list(_flat(loop.body))
    gathered = _with_others(survey, [b for one in statements for b in _gathered(survey, one)])
    if not gathered or not all(map(_only_gathers, statements)) or not steps.asks(loop.body):
        return ""
    if not any(_used(survey, statement, [loop.target]) for statement in loop.body):
        return ""
    if _carries_over(survey, loop, gathered) or not steps.stand_alone(loop.body, gathered):
        return ""
    return _rewritten_loop(survey, loop)


def _are_rounds(survey: Survey, loop: n.For) -> bool:
    """Say whether each step asks the same anew: less of that is worth more than all of it at once."""
    over_range = isinstance(loop.iterable, n.Call) and _names_one_of(loop.iterable.function, frozenset(("range",)))
    targets = {survey.names.of[name] for name in target_names(loop.target)}
    reads = [name for statement in loop.body for name in survey.read_in(statement) if survey.names.of[name] in targets]
    return over_range and all(
        isinstance(keyword := survey.parent.get(name), n.Keyword) and keyword.name == "sample" for name in reads
    )


def _flat(body: list[n.Node]) -> Iterator[n.Node]:
    for statement in body:
        if isinstance(statement, n.If):
            yield from (one for arm in [*statement.bodies, statement.orelse] for one in _flat(arm))
        else:
            yield statement


def _only_gathers(statement: n.Node) -> bool:
    """Say whether a statement names a value, adds one to others, or says something."""
    if isinstance(statement, n.ExprStatement):
        value = statement.value
        adds = isinstance(value, n.MethodCall) and value.name in _GATHERS and isinstance(value.receiver, n.Name)
        return adds or isinstance(value, n.Constant) or (
            isinstance(value, n.Call) and _names_one_of(value.function, frozenset(("log",)))
        )  # fmt: skip
    if isinstance(statement, n.AugAssign):
        return isinstance(statement.target, n.Name)
    if isinstance(statement, n.Assign):
        return all(map(_is_plain_target, statement.targets))
    return isinstance(statement, n.Pass | n.Continue)


def _is_plain_target(target: n.Node) -> bool:
    if isinstance(target, n.Subscript):
        return isinstance(target.value, n.Name)
    return bool(target_names(target))


def _gathered(survey: Survey, statement: n.Node) -> list[Binding]:
    """Return the names to whose values a statement adds something."""
    roots: list[n.Node] = []
    if isinstance(statement, n.AugAssign):
        roots = [statement.target]
    elif isinstance(statement, n.ExprStatement) and isinstance(statement.value, n.MethodCall):
        roots = [statement.value.receiver]
    elif isinstance(statement, n.Assign):
        roots = [target.value for target in statement.targets if isinstance(target, n.Subscript)]
    return [survey.names.of[root] for root in roots if isinstance(root, n.Name) and root in survey.names.of]


def _with_others(survey: Survey, bindings: list[Binding]) -> set[Binding]:
    """Return these names and those that may stand for the same values, or for what holds them."""
    found: set[Binding] = set()
    waiting = bindings
    while waiting:
        binding = waiting.pop()
        if binding in found:
            continue
        found.add(binding)
        for name in [*binding.reads, *binding.writes]:
            user: n.Node | None = survey.parent.get(name)
            while isinstance(user, n.ListDisplay | n.TupleDisplay | n.DictDisplay | n.Conditional | n.Or):
                user = survey.parent.get(user)
            if isinstance(user, n.Assign):
                names = [*(x for target in user.targets for x in target_names(target)), user.value]
                waiting.extend(survey.names.of[x] for x in names if isinstance(x, n.Name) and x in survey.names.of)
    return found


def _carries_over(survey: Survey, loop: n.For, gathered: set[Binding]) -> bool:
    """Say whether a round may read what an earlier one left: what is gathered, or a name that it sets only later."""
    adding = _adding(loop)
    first_set: dict[Binding, int] = {}
    for statement in loop.body:
        for target in statement.targets if isinstance(statement, n.Assign) else ():
            for name in target_names(target):
                first_set.setdefault(survey.names.of[name], statement.end)
    for name in (name for part in [loop.iterable, *loop.body] for name in survey.read_in(part)):
        binding = survey.names.of[name]
        if binding in gathered and name not in adding:
            return True
        if binding.loop is not None or binding.is_parameter:
            continue
        inside = any(loop.body[0].start <= write.start < loop.end for write in binding.writes)
        if inside and binding not in gathered and name.start < first_set.get(binding, loop.end):
            return True
    return False


def _adding(loop: n.For) -> set[n.Node]:
    """Return the names that stand where something is added to their values."""
    found: set[n.Node] = set()
    for statement in _flat(loop.body):
        if isinstance(statement, n.AugAssign):
            found.add(statement.target)
        elif isinstance(statement, n.ExprStatement) and isinstance(statement.value, n.MethodCall):
            found.add(statement.value.receiver)
        elif isinstance(statement, n.Assign):
            found.update(target.value for target in statement.targets if isinstance(target, n.Subscript))
    return found


def _rewritten_loop(survey: Survey, loop: n.For) -> str:
    only = loop.body[0].value if len(loop.body) == 1 and isinstance(loop.body[0], n.ExprStatement) else None
    names = [name.id for name in target_names(loop.target)]
    header = survey.source[loop.target.start : loop.iterable.end]
    if isinstance(only, n.MethodCall) and only.name == "append" and len(only.args) == 1:
        item, into = only.args[0], survey.text(only.receiver)
        bound = ", ".join(f"{name}={name}" for name in _used(survey, item, [loop.target]))
        return _written(f"{into} += parallel([lambda {bound}: {_shown(survey, item)} for {header}])")
    given = ", ".join(names)
    bound = ", ".join(f"{name}={name}" for name in names)
    return (
        f"put what is done for one into `def step({given}):`, which returns what is kept, and ask for all at once: "
        f"`parallel([lambda {bound}: step({given}) for {header}])`."
    )


# ---- what stands where


def _written(made: str) -> str:
    if len(made) <= _LONGEST and "\n" not in made and "`" not in made:
        return f"write `{made}`."
    head = made[: made.index(": ") + 1]
    return f"hand over functions: `{head} ... for ...])`, with what is asked in place of the dots."


def _shown(survey: Survey, node: n.Node) -> str:
    shown = survey.source[node.start : node.end]
    return f"({shown})" if isinstance(node, n.TupleDisplay) and not shown.startswith("(") else shown


def _used(survey: Survey, node: n.Node, targets: list[n.Node]) -> list[str]:
    bound = {name.id for target in targets for name in target_names(target)}
    return list(dict.fromkeys(x.id for x in survey.within(node) if isinstance(x, n.Name) and x.id in bound))


def _at_once(node: n.Node) -> Iterator[n.Node]:
    """Yield what is evaluated where ``node`` is, without the insides of functions."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, n.Lambda | n.Def):
            waiting.extend(n.children(node))


def _depends(node: n.Node) -> bool:
    """Say whether a node asks what is left or opens a phase, or calls a value, of which nothing is known here."""
    return isinstance(node, n.Call) and (node.callee == n.ASK or _names_one_of(node.function, _IN_ORDER))


def _names_one_of(function: n.Node, names: frozenset[str]) -> bool:
    return isinstance(function, n.Name) and function.id in names
