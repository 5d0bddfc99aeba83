"""Names the cause of a syntax error from the tokens around it, in the order of how often models make each mistake."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ._building import Building
from ._cut_messages import PROSE
from ._foreign import foreign_operator, foreign_word, wrapped
from ._line import ENDS, STARTS, Line, Said, shown
from ._prose import looks_like_prose
from ._refusals import REFUSALS
from ._token import KEYWORDS, Token

__all__ = ["say"]

_BLOCKS = frozenset(("if", "elif", "else", "for", "while", "def", "with", "try", "except", "finally", "class", "CASE"))
_STATEMENTS = frozenset(
    ("return", "pass", "break", "continue", "raise", "import", "from", "assert", "del", "global", "nonlocal", "def")
)
_WORDS = frozenset(("NAME", "in", "is", "not", "and", "or", "if", "else", "for", "as", "with", "from", "-", "*"))
_ONE_WORD_LESS = 3
"""Names side by side that make a line prose: fewer may be a forgotten operator."""


def say(building: Building, source: str, tokens: list[Token], at: int, expected: Mapping[str, int]) -> None:
    """Complain about the token at ``at``, which does not fit; ``expected`` has the types that would."""
    line = Line(source, tokens, at, expected)
    if looks_like_prose(line.text) or _only_words(line):
        if not any(fault.code == "PL009" for fault in building.faults):
            building.complain("PL009", line.begin, line.begin + len(line.text), *PROSE)
        return
    code, message, hint, start, end = _cause(line)
    if code == "PL009" and any(fault.message == message for fault in building.faults):
        return
    if line.inside() == "{f" and code == "PL010":
        hint = f"{hint.rstrip('.')}; if the braces belong to the text, double them: `{{{{` and `}}}}`."
    building.complain(code, start, end, message, hint)


def _only_words(line: Line) -> bool:
    """Say whether a line is nothing but words, as a sentence or a command is."""
    tokens = [*line.before, *line.rest]
    names = [token for token in tokens if token.type == "NAME"]
    return len(names) >= _ONE_WORD_LESS and all(token.type in _WORDS for token in tokens)


def _cause(line: Line) -> tuple[str, str, str, int, int]:
    start, end = line.bad.start, max(line.bad.end, line.bad.start + 1)
    if line.bad.type in ("NEWLINE", "$END", "INDENT", "DEDENT") and line.last is not None:
        start, end = line.last.start, line.last.end
    for cause in _CAUSES:
        found = cause(line)
        if found and len(found) == 5:
            return found
        if found:
            return *found, start, end
    message = f"{shown(line.bad, line.source)} does not fit here"
    return "PL010", message, "say this in one plain Python statement.", line.bad.start, max(line.bad.end, start + 1)


def _block_words(line: Line) -> Said:
    bad, last = line.bad.type, line.last
    if bad == "if" and last is not None and last.type == "else" and len(line.before) == 1:
        return "PL010", "`else if` is not Python", "write `elif`.", last.start, line.bad.end
    if bad in ("except", "finally") and not line.before:
        message = f"this `{bad}` belongs to no `try`, and plans have neither"
        return "PL010", message, f"delete the `{bad}` with its block."
    if bad in ("else", "elif") and not line.before:
        if _follows_else(line):
            message = f"this `{bad}` follows an `else`, which is the last part of an `if`"
            hint = "move the `elif` and its block before the `else`."
            hint = hint if bad == "elif" else "give the first one a test, `elif test:`, or make one block of the two."
            return "PL010", message, hint
        owner = {"else": "`if` or `for`", "elif": "`if`"}[bad]
        hint = f"indent it like the {owner} that it belongs to, with no line between the block and it."
        return "PL010", f"this `{bad}` belongs to no {owner}", hint
    if bad == "else" and line.before:
        return "PL010", "this `else` belongs to no `if`", "use `a if test else b`."
    ternary = "else" in line.expected and any(token.type == "if" for token in line.before[1:])
    if ternary and bad in ("NEWLINE", "$END", ")", "]", "}", ","):
        return "PL010", "this `if` inside a line has no `else`", "say what else: `a if test else None`."
    if ternary and bad == ":":
        return "PL010", "this `if` has no `else`", "say what else: `a if test else None`."
    return None


def _follows_else(line: Line) -> bool:
    """Say whether the nearest line above that is indented no deeper begins with ``else``."""
    indent = line.indented - line.begin
    for above in reversed(line.source[: line.begin].splitlines()):
        text = above.lstrip(" \t")
        if text and len(above) - len(text) <= indent:
            return re.match(r"else\s*:", text) is not None
    return False


def _misused_keyword(line: Line) -> Said:
    bad, last = line.bad, line.last
    if bad.type in _STATEMENTS and line.before:
        if any(token.type == "lambda" for token in line.before):
            hint = f"delete it: a lambda gives its value without `{bad.type}`."
            hint = hint if bad.type == "return" else "use a `def`."
            return "PL010", f"a lambda holds one expression, not `{bad.type}`", hint
        if "NAME" not in line.expected or last is None or last.type == "=":
            hint = f"put `{bad.type}` in a line of its own."
            return "PL010", f"`{bad.type}` is a statement and cannot stand inside a line", hint
    keyword = bad if bad.type in KEYWORDS and "NAME" in line.expected else None
    if last is not None and last.type in KEYWORDS and bad.type in ("=", ",", ".") and len(line.before) == 1:
        keyword = last
    if keyword is not None and keyword.type not in ("in", "is", "and", "or", "if", "else", "for"):
        message = f"`{keyword.type}` is a keyword of Python and no name"
        return "PL020", message, f"write `{keyword.type}_`, or another name.", keyword.start, keyword.end
    return None


def _equals(line: Line) -> Said:
    last, bad = line.last, line.bad
    name = last if last is not None and last.type == "NAME" else None
    if bad.type == ":" and name and line.inside() == "(" and "=" in line.expected:
        hint = f"write `{name.value}=`."
        return "PL010", "an argument by keyword is given with `=`", hint, name.start, bad.end
    if bad.type != "=":
        return None
    if line.first in ("if", "elif", "while") or "if" in {token.type for token in line.before}:
        return "PL010", "`=` assigns and cannot stand in a condition", "write `==` to compare."
    if name and line.inside() == "{":
        return "PL010", "an entry of a dict is written with `:`", f'write `"{name.value}":`.', name.start, bad.end
    hint = "put a name on the left, or `==` to compare; `name=value` stands only inside a call."
    return "PL010", "this `=` has nothing to assign to", hint


def _missing(line: Line) -> Said:
    bad, last, source = line.bad, line.last, line.source
    at_end = bad.type in ("NEWLINE", "$END")
    if at_end and ":" in line.expected and line.first in _BLOCKS:
        return "PL010", f"the `:` at the end of this `{line.first}` line is missing", "end the line with `:`."
    if at_end and last is not None and last.type == ":" and line.first not in _BLOCKS and not line.inside():
        hint = "end it without the `:`, and indent the lines below like this one."
        return "PL010", "this line opens no block, so no `:` ends it", hint
    if line.first == "for" and "in" in line.expected and not at_end:
        return "PL010", f"`in` is missing before {shown(bad, source)}", "put it there: `for item in items:`."
    if line.first == "def" and last is not None and last.type == "NAME" and "(" in line.expected:
        return _def_brackets(line, last)
    if last is not None and bad.type == "(" and (last.type == "lambda" or _among_parameters(line)):
        hint = "name the pair, and take it apart in a line of its own: `a, b = pair`."
        return "PL010", "a parameter is one name", hint
    if bad.type in ("NEWLINE", "$END", "DEDENT") and last is not None:
        return "PL010", f"something is missing after {shown(last, source)}", "complete the line, or leave it out."
    if bad.type in (")", "]", "}", ",", "FIELD_CLOSE") and last is not None and last.type not in ENDS:
        hint = f"put a value between {shown(last, source)} and {shown(bad, source)}, or delete one of them."
        return "PL010", f"a value is missing before {shown(bad, source)}", hint
    return None


def _among_parameters(line: Line) -> bool:
    return line.first == "def" and line.before[-1].type in ("(", ",") and "**" in line.expected


def _def_brackets(line: Line, name: Token) -> Said:
    if line.bad.type == "[":
        close = line.source.find("]", line.bad.start, line.end)
        message = "parameters for types are not part of the plan language"
        return "PL010", message, "delete it: plans need no types.", line.bad.start, max(close + 1, line.bad.end)
    message = "the brackets of this `def` are missing"
    return "PL010", message, f"write `{name.value}()`.", name.start, name.end


def _neighbours(line: Line) -> Said:
    bad, last, source = line.bad, line.last, line.source
    if last is None:
        return None
    both = f"{shown(last, source)} and {shown(bad, source)}"
    if {last.type, bad.type} in ({"STRING", "NAME"}, {"FEND", "NAME"}) and last.end == bad.start:
        hint = 'put a comma or an operator between them; if the quote belongs to the text, write it as `\\"`.'
        return "PL010", f"nothing joins {both}", hint
    if bad.type == "FCOLON" and any(token.type == "lambda" for token in line.before):
        return "PL016", "a lambda in a field of an f-string needs brackets", "put it in `(` and `)`."
    if last.type in ENDS and bad.type in STARTS:
        return "PL010", f"nothing joins {both}", _joined(line)
    if bad.type in ("*", "/", "//", "%", "|", "&", "^") and last.type not in ENDS:
        return "PL010", f"a value is missing before {shown(bad, source)}", "delete it, or put a value before it."
    return None


def _joined(line: Line) -> str:
    """Return what to put between two values that nothing joins."""
    bad, inside = line.bad, line.inside()
    lambdas = any(token.type == "lambda" for token in line.before) and ":" in line.expected
    if lambdas or (inside == "{" and ":" in line.expected and line.before[-2].type in ("{", ",")):
        return "put a `:` between them."
    if not inside and bad.type == "NAME" and line.after.type in ("=", "("):
        return f"put `{bad.value}` and what follows in a line of its own."
    return "put a comma between them." if inside in ("(", "[", "{") else "put a comma or an operator between them."


def _with(line: Line) -> Said:
    """``with (a as b, c as d):`` in brackets, which the grammar has no rule for."""
    if line.first != "with" or line.bad.type != "as":
        return None
    begin = line.before[0].start
    return *REFUSALS["with"], begin, begin + len("with")


_CAUSES = (
    _with,
    wrapped,
    foreign_word,
    _block_words,
    _misused_keyword,
    foreign_operator,
    _equals,
    _missing,
    _neighbours,
)
