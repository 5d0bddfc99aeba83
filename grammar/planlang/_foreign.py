"""Causes of syntax errors that come from other languages, from older Python and from around the plan."""

from __future__ import annotations

import re

from ._line import STARTS, Line, Said

__all__ = ["foreign_operator", "foreign_word", "wrapped"]

_DELETED = frozenset(("const", "let", "var", "new", "export", "public", "private", "final", "static"))
_REPLACED = {"elseif": "elif", "elsif": "elif", "foreach": "for", "func": "def", "fn": "def", "function": "def"}
_OTHER = {"switch": "use `if` and `elif`.", "until": "use `for attempt in range(100):` and `break`."}
_BLOCKS = frozenset(("if", "elif", "else", "for", "while", "def", "with", "try", "except", "finally", "class", "CASE"))
_FUNCTION = re.compile(r"(?:async\s+)?function\s+(\w+)\s*\(([^(){}]*)\)\s*\{?\s*$")
_FOR_OF = re.compile(r"for(?:each)?\s*\(\s*(?:const|let|var)?\s*(\w+)\s+(?:of|in)\s+(.*?)\)\s*\{?\s*$")
_FOR_PARTS = re.compile(r"for\s*\(.*;.*;.*\)\s*\{?\s*$")
_TAG = re.compile(r"\s*</?[A-Za-z][\w-]*>")
_PLACEHOLDER = re.compile(r"<[A-Za-z][\w -]*>")
_DOUBLED = {"&": ("&&", "and"), "|": ("||", "or")}


# ---- around the plan


def wrapped(line: Line) -> Said:
    """Name what was copied with a plan: tags, prompts of a session, numbers of lines."""
    text = line.text
    if _TAG.match(text) and line.bad.type == "<" and not line.before:
        return "PL009", "this line begins with a tag, which is no part of a plan", "delete this line.", *_whole(line)
    if line.bad.type == ">>" and not line.before:
        hint = "delete it, and the others like it; send the plan's lines alone."
        start = line.bad.start
        mark = re.match(r">+ ?", line.source[start:])
        end = start + (len(mark.group()) if mark else 2)
        return "PL009", "this line begins with the mark of a session, which is not part of a plan", hint, start, end
    numbered = [token.type for token in line.before] in (["NUMBER", ":"], ["NUMBER", "|"])
    if numbered:
        hint = "delete it, and the others like it; send the plan's lines alone."
        message = "this line begins with a line number, which is not part of a plan"
        return "PL009", message, hint, line.before[0].start, line.bad.start
    placeholder = _PLACEHOLDER.match(line.source, line.bad.start)
    if line.bad.type == "<" and placeholder:
        message = f"`{placeholder.group()}` is a placeholder"
        return "PL010", message, "put the value there that it stands for.", line.bad.start, placeholder.end()
    return None


def _whole(line: Line) -> tuple[int, int]:
    return line.indented, line.indented + len(line.text.lstrip())


# ---- words


def foreign_word(line: Line) -> Said:
    """Name words that head statements in other languages, and blocks in braces."""
    return _print(line) or _loop(line) or _word(line) or _brace(line) or _comment(line)


def _print(line: Line) -> Said:
    last = line.last
    if last is None or len(line.before) != 1 or last.type != "NAME" or line.bad.type not in STARTS:
        return None
    given = line.source[line.bad.start : line.end].strip()
    if last.value == "print":
        hint = f"write `log({given})`." if "`" not in given else "use `log(...)`."
        message = "`print` without brackets is Python 2, and plans have no `print`"
        return "PL056", message, hint, last.start, line.bad.start + len(given)
    if last.value == "exec":
        return "PL056", "`exec` is not part of the plan language", "delete this line."
    if last.value == "type" and line.after.type == "=":
        return "PL010", "a type's other name is not part of the plan language", "delete this line."
    return None


def _loop(line: Line) -> Said:
    text = line.text.strip()
    function, each = _FUNCTION.match(text), _FOR_OF.match(text)
    if function:
        hint = f"write `def {function[1]}({function[2]}):` and delete the `}}` of its block."
        return "PL010", "`function` is not Python", hint, *_whole(line)
    if each and line.first in ("for", "NAME"):
        hint = f"write `for {each[1]} in {each[2]}:` and delete the `}}` of its block."
        return "PL010", "this is not how Python writes a `for`", hint, *_whole(line)
    if _FOR_PARTS.match(text):
        hint = "use `for i in range(n):`, without brackets and braces."
        return "PL010", "this is not how Python writes a `for`", hint, *_whole(line)
    return None


def _word(line: Line) -> Said:
    last, bad = line.last, line.bad
    if bad.type == "NAME" and bad.value == "of" and line.first == "for":
        return "PL010", "`of` is not Python", "write `in`."
    if bad.type == "NAME" and bad.value == "then" and line.first in ("if", "elif"):
        return "PL010", "`then` is not Python", "delete it."
    if last is None or last.type != "NAME":
        return None
    word = str(last.value)
    if word in _DELETED and bad.type in ("NAME", "[", "{", "def", "class"):
        words = [token for token in line.before if str(token.value) in _DELETED]
        words += [bad] if str(bad.value) in _DELETED else []
        return "PL010", f"`{word}` is not Python", "delete it.", words[0].start, words[-1].end
    if word in _REPLACED and bad.type in STARTS:
        return "PL010", f"`{word}` is not Python", f"write `{_REPLACED[word]}`.", last.start, last.end
    if word in _OTHER and bad.type in STARTS:
        return "PL010", f"`{word}` is not Python", _OTHER[word], last.start, last.end
    return None


def _brace(line: Line) -> Said:
    if line.bad.type == "{" and line.first in _BLOCKS:
        hint = "write `:` for it and delete the `}`: a block is what is indented by four blanks."
        return "PL010", "a block does not start with `{`", hint
    return None


def _comment(line: Line) -> Said:
    bad, source = line.bad, line.source
    if bad.type in ("//", "/") and not line.before:
        shown = "/*" if source.startswith("/*", bad.start) else "//"
        if source.startswith(shown, bad.start):
            return "PL010", f"`{shown}` does not begin a comment in Python", "write `#`.", bad.start, bad.start + 2
    slashes = [token for token in line.before if token.type == "//"]
    if slashes and line.inside() == "" and line.last is not None and line.last.type == bad.type == "NAME":
        return "PL010", "`//` does not begin a comment in Python", "write `#`.", slashes[0].start, slashes[0].end
    return None


# ---- operators


def foreign_operator(line: Line) -> Said:
    """Name operators that Python spells otherwise."""
    last, bad = line.last, line.bad
    if last is None:
        return _arrow(line)
    together = line.source[last.start : bad.end]
    if bad.type == last.type and bad.type in _DOUBLED:
        doubled, word = _DOUBLED[bad.type]
        return "PL010", f"`{doubled}` is not Python", f"write `{word}`.", last.start, bad.end
    if together in ("===", "!=="):
        return "PL010", f"`{together}` is not Python", f"write `{together[:2]}`.", last.start, bad.end
    return _arrow(line) or _counted(line)


def _arrow(line: Line) -> Said:
    last, bad, source = line.last, line.bad, line.source
    start = last.start if last is not None and source[last.start : bad.end] == "=>" else bad.start
    if not source.startswith("=>", start):
        return None
    return "PL010", "`=>` is not Python", "use `lambda x: value` for a short function.", start, start + 2


def _counted(line: Line) -> Said:
    before = line.before
    if len(before) < 3 or before[-1].type != before[-2].type or before[-1].type not in ("+", "-"):
        return None
    if line.bad.type not in ("NEWLINE", ";", "$END"):
        return None
    sign, name = before[-1].type, line.source[before[0].start : before[-2].start]
    hint = f"write `{name} {sign}= 1`."
    return "PL010", f"`{sign}{sign}` is not Python", hint, before[0].start, before[-1].end
