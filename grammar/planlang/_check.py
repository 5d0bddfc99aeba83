"""Says everything that is wrong with a plan, at once.

The text is cut, parsed and its names resolved; then each family of checks looks at the same survey. A cause is named
once: what follows from another problem is left out, and a plan with unreadable lines is not blamed for names.
"""

from __future__ import annotations

from . import _nodes as n
from ._advice import advise
from ._characters import LINE_SEPARATOR, ODD_BLANK
from ._check_attributes import check_attributes
from ._check_calls import check_calls
from ._check_functions import check_functions
from ._check_looks import check_changes
from ._check_names import check_names
from ._check_tasks import check_tasks
from ._check_types import check_types
from ._check_walrus import check_walrus
from ._codes import is_advice
from ._data_plan import said_of_data
from ._faults import Fault
from ._hints import for_vocabulary
from ._limits import DEFAULT_RULES, Rules
from ._lines import Lines
from ._parse import Parsed, parse
from ._problems import Problem
from ._scopes import resolve
from ._survey import Survey
from ._token import Token
from ._vocabulary import Vocabulary
from ._waits import mark

__all__ = ["Checked", "check", "check_module"]

_TEXTS = frozenset(("STRING", "FSTART", "FMIDDLE", "FEND"))
_LOST_HEADER = frozenset(("PL010", "PL011", "PL012", "PL013", "PL014", "PL020"))
_NO_CODE = frozenset(("NEWLINE", "INDENT", "DEDENT", "$END"))


class Checked:
    """A source text with its problems.

    :ivar module: the resolved tree, with its waits marked; ``None`` when a problem blocks the plan.
    """

    def __init__(self, module: n.Module | None, problems: list[Problem]) -> None:
        self.module, self.problems = module, problems


def check(source: str, vocabulary: Vocabulary, rules: Rules = DEFAULT_RULES) -> list[Problem]:
    """Return every problem of a plan and every piece of advice, sorted by place; never raises, for any text."""
    return check_module(source, vocabulary, rules).problems


def check_module(source: str, vocabulary: Vocabulary, rules: Rules = DEFAULT_RULES) -> Checked:
    """Return the tree of ``source``, ready to be compiled, with its problems."""
    if len(source) > rules.source_characters:
        return Checked(None, _problems([_too_long(source, rules)], source, vocabulary))
    parsed = parse(source, rules)
    faults = parsed.faults
    faults.extend(_sizes(parsed, rules))
    if parsed.module is None:
        return Checked(None, _problems(faults, source, vocabulary))
    data = said_of_data(parsed.module)
    if data is not None:
        return Checked(None, _problems([data], source, vocabulary))
    names = resolve(parsed.module, vocabulary)
    survey = Survey(parsed.source, parsed.module, names, vocabulary, parsed.whole)
    mark(survey)
    for family in (
        check_names,
        check_attributes,
        check_calls,
        check_functions,
        check_tasks,
        check_changes,
        check_walrus,
        check_types,
    ):
        family(survey)
    faults.extend(survey.faults)
    if all(is_advice(fault.code) for fault in faults):
        advise(survey)
        faults = faults + [fault for fault in survey.faults if fault not in faults]
    blocked = any(not is_advice(fault.code) for fault in faults)
    return Checked(None if blocked else parsed.module, _problems(faults, source, vocabulary))


def _too_long(source: str, rules: Rules) -> Fault:
    message = f"the plan has {len(source):,} characters, more than the {rules.source_characters:,} that it may have"
    return Fault("PL001", 0, 1, message, "shorten its texts; leave to workers what they can find out themselves.")


def _sizes(parsed: Parsed, rules: Rules) -> list[Fault]:
    found: list[Fault] = []
    lines = _code_lines(parsed.source, parsed.cut.tokens)
    if len(lines) > rules.code_lines:
        place = lines[rules.code_lines]
        message = f"the plan has {len(lines)} lines of code, more than the {rules.code_lines} that it may have"
        found.append(Fault("PL002", place, place + 1, message, "use loops and `def` for what repeats, or do less."))
    if parsed.cut.code_characters > rules.code_characters:
        message = (
            f"the plan has {parsed.cut.code_characters:,} characters of code outside of texts and comments, "
            f"more than the {rules.code_characters:,} that it may have"
        )
        found.append(Fault("PL003", 0, 1, message, "use loops and `def` for what repeats, or do less."))
    return found


def _code_lines(source: str, tokens: list[Token]) -> list[int]:
    """Return where each line of code has its first token; lines that hold only text are no code."""
    found: list[int] = []
    next_line = 0
    for token in tokens:
        if token.start < next_line or token.type in _TEXTS or token.type in _NO_CODE:
            continue
        found.append(token.start)
        end = source.find("\n", token.start)
        next_line = len(source) if end < 0 else end + 1
    return found


def _problems(faults: list[Fault], source: str, vocabulary: Vocabulary) -> list[Problem]:
    places = Lines(source)
    found: dict[tuple[str, int, int], Problem] = {}
    hints: dict[str, str] = {}  # one hint may be given a thousand times
    for fault in sorted(_without_echoes(faults, source), key=lambda fault: (fault.start, fault.end)):
        line, column = places.place(min(fault.start, len(source)))
        end_line, end_column = places.place(min(fault.end, len(source)))
        if fault.hint not in hints:
            hints[fault.hint] = _honest(for_vocabulary(fault.hint, vocabulary, source))
        problem = Problem(
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            code=fault.code,
            severity="advice" if is_advice(fault.code) else "problem",
            message=fault.message,
            hint=hints[fault.hint],
        )
        found.setdefault((fault.code, line, column), problem)
    return sorted(found.values())


def _honest(hint: str) -> str:
    """Return a hint that promises no literal rewrite where something long is left out of it."""
    cut = hint.startswith("write `") and "..." in hint[7 : hint.find("`", 7)]
    return f"use{hint[5:]}" if cut else hint


def _without_echoes(faults: list[Fault], source: str) -> list[Fault]:
    """Leave out what only follows from another fault."""
    codes = {fault.code for fault in faults}
    echoes = {"PL014"} if "PL005" in codes or any(f.message.endswith(ODD_BLANK) for f in faults) else set()
    if any(LINE_SEPARATOR in f.message for f in faults):
        echoes.add("PL010")
    if "PL004" in codes:
        echoes |= {"PL002", "PL003"}
    waits = [fault for fault in faults if fault.code == "PL041"]
    first = min(waits, key=lambda fault: fault.start, default=None)
    kept = [f for f in faults if f.code not in echoes and (f.code != "PL041" or f is first)]
    headers = [f.start for f in kept if f.code in _LOST_HEADER and _line(source, f.start).lstrip().startswith("def ")]
    return [f for f in kept if f.code != "PL025" or not any(_is_body(source, start, f.start) for start in headers)]


def _line(source: str, at: int) -> str:
    begin, end = source.rfind("\n", 0, at) + 1, source.find("\n", at)
    return source[begin : end if end >= 0 else len(source)]


def _is_body(source: str, header: int, place: int) -> bool:
    """Say whether ``place`` is in the body of a ``def`` whose first line could not be read."""
    if place < header:
        return False
    between = source[header:place].split("\n")
    return source[place - 1 : place] in (" ", "\t") or len(between) == 2
