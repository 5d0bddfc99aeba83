"""Names the cause of a syntax error from the tokens around it, in the order of how often models make each mistake."""

from __future__ import annotations

from collections.abc import Mapping

from ._building import Building
from ._prose import looks_like_prose
from ._token import KEYWORDS, Token

__all__ = ["say"]

_VALUES = frozenset(("NAME", "NUMBER", "STRING", "FSTART", "FEND", "True", "False", "None"))
_ENDS = _VALUES | {")", "]", "}"}
_STARTS = _VALUES | {"(", "[", "{", "lambda", "not"}
_BLOCKS = frozenset(("if", "elif", "else", "for", "while", "def", "with", "try", "except", "finally", "class", "CASE"))
_STATEMENTS = frozenset(
    ("return", "pass", "break", "continue", "raise", "import", "from", "assert", "del", "global", "nonlocal", "def")
)
_OTHER_LANGUAGES = {
    "const": "write `name = value`, without `const`.",
    "let": "write `name = value`, without `let`.",
    "var": "write `name = value`, without `var`.",
    "function": "write `def name(parameters):`.",
    "new": "call it without `new`.",
    "foreach": "write `for item in items:`.",
    "elseif": "write `elif`.",
    "switch": "use `if` and `elif`.",
    "until": "use `for attempt in range(100):` and `break`.",
}
_DOUBLED = {"&": ("&&", "and"), "|": ("||", "or")}


class _Line:
    """The tokens of the line with the error, cut at the error."""

    def __init__(self, tokens: list[Token], at: int) -> None:
        start = at
        while start > 0 and tokens[start - 1].type not in ("NEWLINE", "INDENT", "DEDENT"):
            start -= 1
        self.before = tokens[start:at]
        self.bad = tokens[at]
        self.after = tokens[at + 1] if at + 1 < len(tokens) else tokens[at]

    @property
    def first(self) -> str:
        return self.before[0].type if self.before else ""

    @property
    def last(self) -> Token | None:
        return self.before[-1] if self.before else None


def say(building: Building, source: str, tokens: list[Token], at: int, expected: Mapping[str, int]) -> None:
    """Complain about the token at ``at``, which does not fit; ``expected`` has the types that would."""
    line = _Line(tokens, at)
    begin = max(source.rfind("\n", 0, line.bad.start), source.rfind("\r", 0, line.bad.start)) + 1
    stop = source.find("\n", begin)
    text = source[begin : stop if stop >= 0 else len(source)].rstrip()
    if looks_like_prose(text):
        if not any(fault.code == "PL009" for fault in building.faults):
            hint = "send the plan alone; put explanations behind `#`."
            building.complain("PL009", begin, begin + len(text), "this line is prose, not part of a plan", hint)
        return
    start, end = line.bad.start, max(line.bad.end, line.bad.start + 1)
    for cause in (_old_python, _other_language, _block_words, _misused_keyword, _operators, _missing, _neighbours):
        found = cause(line, expected, source)
        if found:
            code, message, hint = found
            if line.bad.type in ("NEWLINE", "$END", "INDENT", "DEDENT") and line.last is not None:
                start, end = line.last.start, line.last.end
            building.complain(code, start, end, message, hint)
            return
    shown = _shown(line.bad, source)
    hint = "write this line again as one plain Python statement."
    building.complain("PL010", start, end, f"{shown} does not fit here", hint)


_Said = tuple[str, str, str] | None


def _shown(token: Token, source: str) -> str:
    if token.type in ("NEWLINE", "$END"):
        return "the end of the line"
    if token.type in ("INDENT", "DEDENT"):
        return "the indentation"
    text = source[token.start : token.end]
    return f"`{text}`" if len(text) <= 30 else f"`{text[:30]}...`"


def _old_python(line: _Line, expected: Mapping[str, int], source: str) -> _Said:
    last = line.last
    if last is None or len(line.before) != 1 or last.type != "NAME" or line.bad.type not in _STARTS:
        return None
    if last.value == "print":
        return "PL056", "`print` without brackets is Python 2, and plans have no `print`", "write `log(...)`."
    if last.value == "exec":
        return "PL056", "`exec` is not part of the plan language", "delete this line."
    return None


def _other_language(line: _Line, expected: Mapping[str, int], source: str) -> _Said:
    last = line.last
    if last is not None and last.type == "NAME" and str(last.value) in _OTHER_LANGUAGES:
        return "PL010", f"`{last.value}` is not Python", _OTHER_LANGUAGES[str(last.value)]
    if line.bad.type == "{" and line.first in _BLOCKS:
        return "PL010", "a block does not start with `{`", "end the line with `:` and indent the block by four blanks."
    return None


def _block_words(line: _Line, expected: Mapping[str, int], source: str) -> _Said:
    bad, last = line.bad.type, line.last
    if bad == "if" and last is not None and last.type == "else" and len(line.before) == 1:
        return "PL010", "`else if` is not Python", "write `elif`."
    if bad in ("else", "elif", "except", "finally") and not line.before:
        owner = {"else": "`if` or `for`", "elif": "`if`"}.get(bad, "`try`")
        hint = f"indent it like the {owner} that it belongs to, with no line between the block and it."
        return "PL010", f"this `{bad}` belongs to no {owner}", hint
    if bad == "else" and line.before:
        return "PL010", "this `else` belongs to no `if`", "write `a if test else b`."
    ternary = "else" in expected and any(token.type == "if" for token in line.before[1:])
    if ternary and bad in ("NEWLINE", "$END", ")", "]", "}", ","):
        return "PL010", "this `if` inside a line has no `else`", "write `a if test else b`."
    if bad == ":" and "else" in expected and "if" in {t.type for t in line.before[1:]}:
        return "PL010", "this `if` has no `else`", "write `a if test else b`."
    return None


def _misused_keyword(line: _Line, expected: Mapping[str, int], source: str) -> _Said:
    bad, last = line.bad, line.last
    if bad.type in _STATEMENTS and line.before:
        if any(token.type == "lambda" for token in line.before):
            hint = "write the value alone, `lambda x: value`, or a `def` with `return`."
            return "PL010", f"a lambda holds one expression, not `{bad.type}`", hint
        if "NAME" not in expected or last is None or last.type == "=":
            hint = f"put `{bad.type}` in a line of its own."
            return "PL010", f"`{bad.type}` is a statement and cannot stand inside a line", hint
    keyword = bad if bad.type in KEYWORDS and "NAME" in expected else None
    if last is not None and last.type in KEYWORDS and bad.type in ("=", ",", ".") and len(line.before) == 1:
        keyword = last
    if keyword is not None and keyword.type not in ("in", "is", "and", "or", "if", "else", "for"):
        message = f"`{keyword.type}` is a keyword of Python and no name"
        return "PL020", message, f"choose another name, such as `{keyword.type}_`."
    return None


def _operators(line: _Line, expected: Mapping[str, int], source: str) -> _Said:
    bad, last = line.bad, line.last
    if last is not None and bad.type == last.type and bad.type in _DOUBLED:
        doubled, word = _DOUBLED[bad.type]
        return "PL010", f"`{doubled}` is not Python", f"write `{word}`."
    if bad.type == "=" and line.first in ("if", "elif", "while"):
        return "PL010", "`=` assigns and cannot stand in a condition", "write `==` to compare."
    if bad.type == "=":
        hint = "put a name on the left; write `==` to compare, and `name=value` only inside a call."
        return "PL010", "this `=` has nothing to assign to", hint
    twice = len(line.before) > 1 and line.before[-2].type == (last.type if last else "")
    if last is not None and twice and last.type in ("+", "-") and bad.type in ("NEWLINE", ";", "$END"):
        return "PL010", f"`{last.type}{last.type}` is not Python", f"write `x {last.type}= 1`."
    return None


def _missing(line: _Line, expected: Mapping[str, int], source: str) -> _Said:
    bad, last = line.bad, line.last
    header = next((t.type for t in line.before if t.type in _BLOCKS), "") if line.first in _BLOCKS else ""
    if bad.type in ("NEWLINE", "$END") and ":" in expected and header:
        return "PL010", f"the `:` at the end of this `{line.first}` line is missing", "end the line with `:`."
    if line.first == "for" and "in" in expected and bad.type not in ("NEWLINE", "$END"):
        return "PL010", f"`in` is missing before {_shown(bad, source)}", "write `for item in items:`."
    if line.first == "def" and last is not None and last.type == "NAME" and "(" in expected:
        return "PL010", "the brackets of this `def` are missing", f"write `def {last.value}():`."
    if bad.type in ("NEWLINE", "$END", "DEDENT") and last is not None:
        return "PL010", f"something is missing after {_shown(last, source)}", "complete the line, or delete it."
    if bad.type in (")", "]", "}", ",", "FIELD_CLOSE") and last is not None and last.type not in _ENDS:
        hint = f"put a value between {_shown(last, source)} and {_shown(bad, source)}, or delete one of them."
        return "PL010", f"a value is missing before {_shown(bad, source)}", hint
    return None


def _neighbours(line: _Line, expected: Mapping[str, int], source: str) -> _Said:
    bad, last = line.bad, line.last
    if last is not None and {last.type, bad.type} in ({"STRING", "NAME"}, {"FEND", "NAME"}):
        shown = f"{_shown(last, source)} and {_shown(bad, source)}"
        hint = 'put a comma or an operator between them; if the quote belongs to the text, write it as `\\"`.'
        return "PL010", f"nothing joins {shown}", hint
    if last is not None and last.type in _ENDS and bad.type in _STARTS:
        shown = f"{_shown(last, source)} and {_shown(bad, source)}"
        return "PL010", f"nothing joins {shown}", "put a comma or an operator between them."
    return None
