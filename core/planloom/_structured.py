"""Finding the one JSON value in a model's reply that satisfies a schema.

The whole text is tried first, so that a tag or a fence inside a string survives. Then thinking blocks are dropped, and
every JSON value in what is left (in fences, in prose) is a candidate. NaN, infinities and duplicate keys are refused,
and so is what no plan can hold and would end the whole run: integers of more than 64 bits, values nested too deeply.
Half a pair of surrogates, which no file can hold, is replaced as in texts.
Two candidates that both satisfy the schema and differ are ambiguous: the first is not better than the second. What
stands inside a value that breaks off with the reply is a piece of an answer, and never taken for one.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from planlang import Limits

from .data_classes import frozen
from .workers import Schema

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

__all__ = ["Reading", "read_answer", "repair_request", "without_thinking"]

# How long values are sought: opening brackets tried, and characters read in vain, so that a hostile reply of any size
# costs a tenth of a second.
_MAX_STARTS = 200
_MAX_WASTED_CHARACTERS = 2_000_000
_MAX_PROBLEMS = 8
_MAX_PROBLEMS_SOUGHT = 64
_PROBLEM_LENGTH = 120
_MAX_DEPTH = Limits().data_depth
_INTEGERS = range(-(2 ** (Limits().integer_bits - 1)), 2 ** (Limits().integer_bits - 1))
_MAX_DIGITS = 20
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)


@frozen
class Reading:
    """What was read: a value that satisfies the schema, or the problems (``path: message``) with what is there."""

    value: Any = None
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether ``value`` is the answer."""
        return not self.problems


class _Refused(ValueError):
    """The text is JSON by its form, with a content that has no agreed meaning."""


class _BrokenOff(ValueError):
    """The text ends inside of a JSON value."""


def read_answer(text: str, schema: Schema) -> Reading:
    """Return the value in ``text`` that satisfies ``schema``, or what is wrong with what is there."""
    try:
        return _read(text, schema)
    except RecursionError:
        return Reading(problems=("top level: the JSON is nested too deeply",))


def _read(text: str, schema: Schema) -> Reading:
    judged: list[tuple[Any, tuple[str, ...]]] = []
    refusals: list[str] = []
    broken_off = False
    try:
        for raw in _candidates(text):
            try:
                value = _strict(raw, mends=schema.read is not None)
            except _Refused as error:
                refusals.append(f"top level: {error}"[:_PROBLEM_LENGTH])
                continue
            judged.append((value, _problems(value, schema.validator)))
    except _BrokenOff:
        broken_off = True
    fitting = [value for value, problems in judged if not problems]
    if fitting:
        if all(_same(value, fitting[0]) for value in fitting):
            return Reading(fitting[0])
        return Reading(problems=("top level: two different JSON values both fit the schema; give exactly one",))
    if broken_off:
        return Reading(problems=("top level: the JSON breaks off before its end",))
    if judged:
        # The largest candidate is the likeliest attempt at an answer; its problems are the useful ones.
        return Reading(problems=max(judged, key=lambda pair: len(str(pair[0])))[1])
    return Reading(problems=tuple(refusals) or ("top level: there is no JSON object in the reply",))


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; to Python, ``true`` and 1 would be."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _candidates(text: str) -> Iterator[str]:
    whole = text.strip()
    if _extent(whole, 0) == (True, len(whole)):
        yield whole
        return
    rest = without_thinking(text)
    position = wasted = 0
    for _ in range(_MAX_STARTS):
        start = _next_start(rest, position)
        if start < 0 or wasted > _MAX_WASTED_CHARACTERS:
            return
        found, end = _extent(rest, start)
        if found:
            yield rest[start:end]
            position = end
        else:
            wasted += end - start
            position = start + 1


def without_thinking(text: str) -> str:
    """Return a reply without the blocks in which a model thought aloud."""
    return _THINKING.sub(" ", text)


def _next_start(text: str, position: int) -> int:
    found = [index for index in (text.find("{", position), text.find("[", position)) if index >= 0]
    return min(found, default=-1)


_LITERALS = ("true", "false", "null", "NaN", "-Infinity", "Infinity")
_LONGEST_LITERAL = len("-Infinity")
_LENIENT = json.JSONDecoder(parse_int=float)  # which knows no number that is too long


def _extent(text: str, start: int) -> tuple[bool, int]:
    """Return whether a JSON object or array begins at ``start``, and where it ends or is broken.

    :raises _BrokenOff: it does not end.
    """
    if text[start : start + 1] not in ("{", "["):
        return False, start
    try:
        return True, _LENIENT.raw_decode(text, start)[1]
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated string") or _is_half(text[error.pos : error.pos + _LONGEST_LITERAL]):
            raise _BrokenOff from error
        return False, error.pos
    except (ValueError, RecursionError):
        return False, start


def _is_half(rest: str) -> bool:
    """Whether nothing but half a literal is left of a text."""
    return any(literal.startswith(rest) for literal in _LITERALS)


def _strict(raw: str, *, mends: bool) -> Any:
    """Return the value of a JSON text.

    :param mends: whoever gets the value looks at each part, so that one number too many spoils no more than its own.
    :raises _Refused: it has no agreed meaning, or no plan can hold it.
    """

    def refuse(name: str) -> Any:
        raise _Refused(f"{name} is not a JSON number")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            twice = _first_repeated(pairs)
            raise _Refused(f"the key `{twice[:40]}` stands twice in one object")
        return made

    def finite(digits: str) -> float:
        number = float(digits)
        if number in (float("inf"), float("-inf")):
            raise _Refused(f"{digits[:20]} is too large a number")
        return number

    def held(digits: str) -> int | float:
        if len(digits) <= _MAX_DIGITS and (number := int(digits)) in _INTEGERS:
            return number
        if mends:
            return finite(digits)
        raise _Refused(f"{digits[:20]} is too large a number")

    def parse(text: str) -> Any:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=unique, parse_float=finite, parse_int=held)

    value = parse(raw)
    if _nests_deeper_than(_MAX_DEPTH, value):
        raise _Refused("the JSON is nested too deeply")
    return parse(_without_half_pairs(value)) if _SURROGATE.search(raw) else value


def _nests_deeper_than(depth: int, value: Any) -> bool:
    if not isinstance(value, dict | list):
        return False
    children = value.values() if isinstance(value, dict) else value
    return depth == 0 or any(_nests_deeper_than(depth - 1, child) for child in children)


def _without_half_pairs(value: Any) -> str:
    """Return the value as JSON, with U+FFFD for each half of a pair of surrogates that stands alone."""
    from .wire import storable  # seldom needed, and a plan that is only checked does without

    return storable(json.dumps(value, ensure_ascii=False))


def _first_repeated(pairs: list[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return key
        seen.add(key)
    raise AssertionError("no key is repeated")


def _problems(value: Any, validator: Validator) -> tuple[str, ...]:
    found = itertools.islice(validator.iter_errors(value), _MAX_PROBLEMS_SOUGHT)
    errors = sorted(found, key=lambda e: list(map(str, e.absolute_path)))
    return tuple(
        f"{'.'.join(map(str, error.absolute_path)) or 'top level'}: {error.message}"[:_PROBLEM_LENGTH]
        for error in errors[:_MAX_PROBLEMS]
    )


def repair_request(problems: tuple[str, ...]) -> str:
    """Return the message that asks for the corrected object, with at most eight short problems."""
    listed = "\n".join(f"- {problem}" for problem in problems[:_MAX_PROBLEMS])
    return f"Your answer does not fit:\n{listed}\nAnswer with the corrected JSON object only."
