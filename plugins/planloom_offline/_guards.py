"""guard-against-message: a raise whose condition contradicts what its message says.

The condition is brought to a list of comparisons, any one of which makes the guard raise. The message is read for
what it requires. The rule fires when no comparison refuses what the message refuses and one of them refuses the
opposite, or draws the line at another number.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from planloom.data_classes import frozen

from ._messages import Bound, bounds_of, text_of
from ._words import last_name, number, quoted, words_of
from .parsed import Function, ParsedFile
from .rules import Hit

_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_COMPLEMENT = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "!=": "=="}
_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


@frozen
class Guard:
    """A condition under which a message is raised.

    :ivar negated: the exception is raised when the condition does *not* hold.
    """

    condition: ast.expr
    negated: bool
    message: str
    line: int


@frozen
class Atom:
    """One part of a condition that makes a guard raise on its own; ``negated`` when it must not hold."""

    node: ast.expr
    negated: bool

    @property
    def sides(self) -> tuple[ast.expr, type[ast.cmpop], ast.expr] | None:
        """Left side, operator and right side of a comparison of two."""
        if not isinstance(self.node, ast.Compare) or len(self.node.ops) != 1:
            return None
        op = type(self.node.ops[0])
        return self.node.left, _NEGATED[op] if self.negated else op, self.node.comparators[0]


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find raises and asserts whose condition contradicts their message."""
    for guard, function in _guards(file):
        atoms = list(_atoms(guard.condition, guard.negated))
        contradiction = _bounds(atoms, guard.message) or _states(atoms, guard.message)
        if contradiction and not _speaks_of_another(guard, function):
            yield _hit(guard, contradiction)


def _guards(file: ParsedFile) -> Iterator[tuple[Guard, Function | None]]:
    later = _elifs(file)
    for node, function in file.sites(ast.If):
        for body, negated in ((node.body, False), (node.orelse, True)):
            if negated and id(node) in later:
                # The `else` of a chain is reached past all its conditions, of which this is only the last.
                continue
            if len(body) == 1 and isinstance(body[0], ast.Raise):
                message = text_of(body[0].exc)
                if message:
                    yield Guard(node.test, negated, message, node.test.lineno), function
    for claim, function in file.sites(ast.Assert):
        if claim.msg is not None:
            message = text_of(ast.Call(func=claim.msg, args=[claim.msg], keywords=[]))
            if message:
                yield Guard(claim.test, True, message, claim.lineno), function


def _elifs(file: ParsedFile) -> set[int]:
    return {
        id(node.orelse[0])
        for node, _ in file.sites(ast.If)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
    }


def _atoms(node: ast.expr, negated: bool) -> Iterator[Atom]:
    """The parts of a condition any of which raises; none where several must hold at once."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _atoms(node.operand, not negated)
    elif isinstance(node, ast.BoolOp):
        if isinstance(node.op, ast.Or) != negated:
            for value in node.values:
                yield from _atoms(value, negated)
    else:
        yield Atom(node, negated)


def _speaks_of_another(guard: Guard, function: Function | None) -> bool:
    """Whether a message names variables of the function, and the condition uses none of them."""
    if function is None:
        return False
    spoken = set(re.findall(r"\w+", guard.message)) - {"a", "i"}
    known = {n.id.lower() for n in ast.walk(function.node) if isinstance(n, ast.Name)}
    known |= {argument.arg.lower() for argument in ast.walk(function.node) if isinstance(argument, ast.arg)}
    mentioned = spoken & known
    used = {n.id.lower() for n in ast.walk(guard.condition) if isinstance(n, ast.Name)}
    used |= {n.attr.lower() for n in ast.walk(guard.condition) if isinstance(n, ast.Attribute)}
    return bool(mentioned) and not mentioned & used


# --- numbers


def _bounds(atoms: list[Atom], message: str) -> str:
    """Say how a guard contradicts the number its message names, or return an empty text."""
    required = bounds_of(message)
    if len(required) != 1:
        return ""
    read = [_against(atom, required[0]) for atom in atoms]
    verdicts = [verdict for verdict in read if verdict is not None]
    if not verdicts or "" in verdicts:
        return ""
    # One comparison of many may be about something the message leaves out, unless it says the opposite.
    reversed_only = [verdict for verdict in verdicts if verdict == _REVERSED]
    return reversed_only[0] if reversed_only else verdicts[0] if len(atoms) == 1 else ""


_REVERSED = "raises on exactly what its message asks for"
_SHIFTED = "draws the line elsewhere than its message"


def _against(atom: Atom, required: Bound) -> str | None:
    """Compare one part with a requirement: empty when they agree, ``None`` when they are not comparable."""
    sides = atom.sides
    if sides is None or sides[1] not in _SIGNS:
        return None
    left, op, right = sides
    sign = _SIGNS[op]
    if isinstance(required.bound, str):
        return _against_name(left, sign, right, required.op, required.bound)
    if number(left) is not None:
        left, sign, right = right, _MIRRORED[sign], left
    limit = number(right)
    if limit is None or _odd_subject(left):
        return None
    return _against_number(sign, limit, required.op, required.bound)


def _odd_subject(node: ast.expr) -> bool:
    """Whether what is compared is a remainder or a difference, of which a message rarely speaks."""
    return isinstance(node, ast.BinOp) or number(node) is not None


def _against_number(sign: str, limit: float, op: str, bound: float) -> str | None:
    if op == "!=":
        return {"==": "", "!=": _REVERSED}.get(sign) if limit == bound else None
    if sign in ("==", "!="):
        return None
    wanted = _COMPLEMENT[op]
    if sign[0] != wanted[0]:
        return _REVERSED if abs(limit - bound) <= 1 else None
    return "" if _edge(sign, limit) == _edge(wanted, bound) or (sign, limit) == (wanted, bound) else _SHIFTED


def _edge(sign: str, limit: float) -> float:
    """The last refused whole number: ``< 1`` and ``<= 0`` refuse the same ones."""
    return limit + {"<": -1, ">": 1}.get(sign, 0)


def _against_name(left: ast.expr, sign: str, right: ast.expr, op: str, name: str) -> str | None:
    ours, theirs = _ends_on(left, name), _ends_on(right, name)
    if ours == theirs or sign in ("==", "!="):
        return None
    sign = _MIRRORED[sign] if ours else sign
    if sign[0] != _COMPLEMENT[op][0]:
        return _REVERSED
    return "" if sign == _COMPLEMENT[op] else _SHIFTED


def _ends_on(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id.lower() == name


# --- states

_SAYS_EMPTY = re.compile(
    r"\b(?:must not|cannot|can not|can't|may not|should not) be empty\b|\bis empty\b|\bmust be non-?empty\b"
)
_SAYS_ABSENT = re.compile(r"\bnot found\b|\bis not in\b|\bdoes not exist\b|\bdoesn't exist\b|^no such\b")
_SAYS_PRESENT = re.compile(r"\balready (?:exists|in|present|registered|defined)\b|\bduplicate\b")
_SAYS_ALIKE = re.compile(r"\b(?:must|should) (?:be (?:equal|the same|identical)|match|have (?:the )?(?:same|equal))\b")
_SAYS_NONE = re.compile(r"\b(?:must not|cannot|can't|may not|should not) be none\b")
_ABSENCE = frozenset(("empty", "no", "not", "none", "missing", "without"))
_TYPES = {"int": "integer", "str": "string", "bool": "boolean", "dict": "dictionary", "float": "float", "list": "list"}


def _states(atoms: list[Atom], message: str) -> str:
    """Say how a guard contradicts what its message says of emptiness, membership, likeness or type."""
    if len(atoms) != 1 or re.search(r"\b(?:if|when|unless|or|either|only)\b", message):
        return ""
    (atom,) = atoms
    wrong = any(says.search(message) and contradicts(atom) for says, contradicts in _STATES)
    return _REVERSED if wrong or _type_refused(atom, message) else ""


def _full(atom: Atom) -> bool:
    """Whether a part raises when a container holds something."""
    if isinstance(atom.node, ast.Name | ast.Attribute):
        # `is_empty` and `no_rows` say the opposite of what they hold.
        return not atom.negated and not _ABSENCE & set(words_of(last_name(atom.node)))
    sides = atom.sides
    if sides is None or not _is_length(sides[0]):
        return False
    return (sides[1], number(sides[2])) in ((ast.Gt, 0), (ast.NotEq, 0), (ast.GtE, 1))


def _is_length(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _compares(*ops: type[ast.cmpop]) -> Callable[[Atom], bool]:
    return lambda atom: atom.sides is not None and atom.sides[1] in ops


def _looks_up(op: type[ast.cmpop]) -> Callable[[Atom], bool]:
    """Whether a part looks a value up; a literal is asked for as an option and is not what a message calls missing."""
    return lambda atom: _compares(op)(atom) and atom.sides is not None and not isinstance(atom.sides[0], ast.Constant)


def _against_none(atom: Atom) -> bool:
    sides = atom.sides
    return sides is not None and sides[1] is ast.IsNot and getattr(sides[2], "value", 0) is None


_STATES: tuple[tuple[re.Pattern[str], Callable[[Atom], bool]], ...] = (
    (_SAYS_EMPTY, _full),
    (_SAYS_ABSENT, _looks_up(ast.In)),
    (_SAYS_PRESENT, _looks_up(ast.NotIn)),
    (_SAYS_ALIKE, _compares(ast.Eq)),
    (_SAYS_NONE, _against_none),
)


def _type_refused(atom: Atom, message: str) -> bool:
    """Whether a part raises on the very type that its message asks for."""
    match atom.node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id=kind)]) if not atom.negated:
            asked = {kind.lower(), _TYPES.get(kind, kind.lower())} | {" ".join(words_of(kind))}
            return any(re.search(rf"\bmust be (?:an? )?{re.escape(name)}\b", message) for name in asked)
    return False


def _hit(guard: Guard, contradiction: str) -> Hit:
    condition = f"not ({quoted(guard.condition)})" if guard.negated else quoted(guard.condition)
    said = guard.message if len(guard.message) <= 100 else guard.message[:97] + "..."
    return Hit(
        line=guard.line,
        claim=f"the guard `{condition}` {contradiction}: `{said}`",
        failing_call=f"a value for which `{condition}` holds",
        expected=f"a guard that raises only where the message is true: `{said}`",
    )
