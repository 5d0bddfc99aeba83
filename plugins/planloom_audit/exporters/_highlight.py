"""Foreign text and code as HTML: escaped, hidden characters named, code with its lines numbered and marked.

Six kinds of Python's words are told apart, each a class of the page's own style sheet, so that light, dark and print
each choose their colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from planloom_audit.report import Bug

from ._foreign import LONGEST_CODE_LINE, code_line, prose

if TYPE_CHECKING:
    from pygments.lexers.python import PythonLexer

__all__ = ["code_html", "code_or_prose_html", "prose_html", "text_html"]

_NAMED = re.compile(r"⟨(U\+[0-9A-F]{4,6})⟩")
_CLASSES = (
    ("Comment", "c"),
    ("Literal.String", "s"),
    ("Literal.Number", "m"),
    ("Keyword", "k"),
    ("Operator.Word", "k"),
    ("Name.Function", "f"),
    ("Name.Class", "f"),
    ("Name.Decorator", "d"),
    ("Name.Builtin", "b"),
)


def text_html(text: str) -> str:
    """Visible text, escaped, with the names of hidden characters set apart."""
    return _NAMED.sub(r'<span class="hidden-character">\1</span>', escape(text))


def prose_html(text: str) -> str:
    """Visible text, escaped; what it sets between backticks becomes code."""
    pieces = (f"<code>{text_html(piece)}</code>" if is_code else text_html(piece) for is_code, piece in prose(text))
    return "".join(pieces)


def code_or_prose_html(text: str) -> str:
    """The text as code, unless it sets code apart itself and so must be a sentence."""
    return prose_html(text) if len(prose(text)) > 1 else f"<code>{text_html(text)}</code>"


def code_html(bug: Bug, lines: Sequence[tuple[int, str]], *, coloured: bool) -> str:
    """The numbered lines, for the inside of ``<pre>``."""
    texts = [code_line(text) for _, text in lines]
    is_python = bug.file.endswith((".py", ".pyi"))
    bodies = _coloured(texts) if coloured and is_python else [text_html(text) for text in texts]
    rows = zip((number for number, _ in lines), texts, bodies, strict=True)
    return "".join(_row(number, _body(text, body), marked=_is_marked(bug, number)) for number, text, body in rows)


def _body(text: str, coloured: str) -> str:
    """The coloured line, but for one that was cut: the note at its end is no code."""
    return text_html(text) if len(text) > LONGEST_CODE_LINE else coloured


def _is_marked(bug: Bug, number: int) -> bool:
    return bug.line is not None and bug.line <= number <= max(bug.line, bug.end_line or 0)


def _row(number: int, body: str, *, marked: bool) -> str:
    tag, said = ("mark", '<span class="aside">Finding here: </span>') if marked else ("span", "")
    return f'<{tag} class="row"><span class="number">{number}</span><span class="code">{said}{body}\n</span></{tag}>'


def _coloured(texts: list[str]) -> list[str]:
    rows: list[list[str]] = [[]]
    for kind, text in _words(texts):
        first, *others = text.split("\n")
        rows[-1].append(_word(kind, first))
        rows.extend([_word(kind, other)] for other in others)
    # a lexer that drops or adds a line end would shift every number below it
    return ["".join(row) for row in rows] if len(rows) == len(texts) else [text_html(text) for text in texts]


def _words(texts: list[str]) -> Iterator[tuple[str, str]]:
    for token, text in _lexer().get_tokens("\n".join(texts)):
        yield _class_of(token), text


@cache
def _class_of(token: tuple[str, ...]) -> str:
    name = ".".join(token)
    return next((short for prefix, short in _CLASSES if name.startswith(prefix)), "")


def _word(name: str, text: str) -> str:
    return f'<span class="{name}">{text_html(text)}</span>' if name and not text.isspace() and text else text_html(text)


@cache
def _lexer() -> PythonLexer:
    from pygments.lexers.python import PythonLexer

    return PythonLexer(stripnl=False, ensurenl=False)
