"""What is worth a second look and blocks nothing."""

from __future__ import annotations

from . import _nodes as n
from ._check_looks import advise_on_looks
from ._check_sequence import advise_on_sequence
from ._scopes import Binding
from ._survey import Survey

__all__ = ["advise"]

_LOOPS = n.ListComp | n.SetComp | n.Generator
_TESTS = n.Compare | n.And | n.Or


def advise(survey: Survey) -> None:
    """Note what a careful reader would ask about."""
    _unused(survey)
    _budget(survey)
    _samples(survey)
    _rounds(survey, advise_on_sequence(survey))
    _none(survey)
    advise_on_looks(survey)


def _unused(survey: Survey) -> None:
    for binding in survey.names.bindings:
        if binding.reads or binding.is_parameter or binding.loop or not binding.writes or binding.name == "result":
            continue
        first = min(binding.writes, key=lambda name: name.start)
        owner = survey.parent.get(first)
        if binding.name.startswith("_") or not isinstance(owner, n.Assign) or _is_heading(survey, owner):
            continue
        message = f"`{binding.name}` is assigned but never read"
        survey.at("PL208", first, message, "delete it, or use it.")


def _is_heading(survey: Survey, node: n.Assign) -> bool:
    """A dict of literals on top of a plan, or right below its docstring, describes it; nobody reads it."""
    body = survey.module.body
    documented = isinstance(body[0], n.ExprStatement) and isinstance(body[0].value, n.Constant)
    return isinstance(node.value, n.DictDisplay) and node is body[1 if documented else 0]


def _budget(survey: Survey) -> None:
    spending = [call for call in survey.all(n.Call) if survey.spends(call)]
    if not spending or "budget" not in survey.vocabulary.words:
        return
    if not any(name.id == "budget" for name in survey.all(n.Name)):
        message = "the plan spends but never reads `budget()`"
        survey.at("PL205", spending[0], message, "test `if budget() < 5:` before large steps.")


def _rounds(survey: Survey, at_once: list[n.Node]) -> None:
    for loop in survey.all(n.For):
        if loop in at_once:  # no rounds, if all of them can be one
            continue
        over_range = isinstance(loop.iterable, n.Call) and _named(loop.iterable.function, "range")
        inside = [node for statement in loop.body for node in survey.within(statement)]
        if (
            over_range
            and any(map(survey.spends, inside))
            and not any(isinstance(x, n.Break | n.Return) for x in inside)
        ):
            message = "these rounds of workers have no stopping rule"
            hint = "`break` when a round brings nothing new, or when `budget()` runs low."
            survey.complain("PL204", loop.start, loop.iterable.end, message, hint)


def _named(node: n.Node, name: str) -> bool:
    return isinstance(node, n.Name) and node.id == name


def _samples(survey: Survey) -> None:
    for loop in survey.all(n.ListComp, n.SetComp, n.Generator):
        for clause in loop.clauses:
            target = survey.names.of.get(clause.target) if isinstance(clause.target, n.Name) else None
            over_range = isinstance(clause.iterable, n.Call) and _named(clause.iterable.function, "range")
            if target is None or target.reads or not over_range:
                continue
            for call in survey.within(loop.element):
                word = survey.word(call)
                if word and word.spends and "sample" in word.signature.parameters and not _has(call, "sample"):
                    message = f"`{word.name}` is asked the same question each time: one answer is counted many times"
                    survey.at("PL207", call, message, f"give it `sample={target.name}`.")
                    break


def _has(call: n.Node, keyword: str) -> bool:
    return isinstance(call, n.Call) and any(k.name in (keyword, None) for k in call.keywords)


def _none(survey: Survey) -> None:
    for call in survey.all(n.Call):
        word = survey.word(call)
        if word is None or not word.spends or word.runs_tasks:
            continue
        if _breaks_on_none(survey, call):
            _say_none(survey, call, word.name)
            continue
        holder = survey.parent.get(call)
        if isinstance(holder, n.Assign) and len(holder.targets) == 1 and isinstance(holder.targets[0], n.Name):
            _held(survey, survey.names.of.get(holder.targets[0]), word.name)


def _held(survey: Survey, binding: Binding | None, word: str) -> None:
    if binding is None or len(binding.writes) != 1 or any(_tested(survey, read) for read in binding.reads):
        return
    for read in binding.reads:
        if _breaks_on_none(survey, read):
            _say_none(survey, read, word)
            return


def _tested(survey: Survey, read: n.Node) -> bool:
    user = survey.parent.get(read)
    if isinstance(user, n.Call) and _named(user.function, "isinstance"):
        return True
    if isinstance(user, _TESTS) or (isinstance(user, n.Unary) and user.op == "not"):
        return True
    return (isinstance(user, n.If) and read in user.tests) or (isinstance(user, n.Conditional) and user.test is read)


def _breaks_on_none(survey: Survey, node: n.Node) -> bool:
    user = survey.parent.get(node)
    if isinstance(user, n.Subscript):
        return user.value is node
    if isinstance(user, n.MethodCall):
        return user.receiver is node
    if isinstance(user, n.For | n.Clause):
        return user.iterable is node
    return isinstance(user, n.Call) and _named(user.function, "len")


def _say_none(survey: Survey, node: n.Node, word: str) -> None:
    message = f"`{word}` gives `None` when its worker fails, and this would break on it"
    user = survey.parent.get(node)
    named = isinstance(user, n.Subscript) and isinstance(user.index, n.Constant) and isinstance(user.index.value, str)
    instead = "{}" if named or isinstance(user, n.MethodCall) else "[]"
    hint = f"write `({survey.text(node)} or {instead})`, or test `if answer is None:` first."
    survey.at("PL206", node, message, hint)
