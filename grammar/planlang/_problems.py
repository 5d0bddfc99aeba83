"""What the checker says about a source text: values, not exceptions."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ._lines import Lines

__all__ = ["Problem", "Severity"]

Severity = Literal["problem", "advice"]

# A line of a plan that is mostly prompt text would fill the screen, and so would its carets.
_LONGEST_LINE = 140
_BEFORE_PLACE = 40


class Problem(NamedTuple):
    """One thing wrong with a plan (``problem``, blocks it) or worth a second look (``advice``, never blocks).

    Lines and columns are 1-based and count characters; the end column is exclusive.

    :ivar code: stable and documented, ``PL`` and three digits; it never changes its meaning.
    :ivar message: what is wrong.
    :ivar hint: what to write instead; a lead that applies it literally gets an accepted plan.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    severity: Severity
    message: str
    hint: str

    def render(self, source: str, name: str = "plan") -> str:
        """Return the message with its source line, a caret below it, and the hint."""
        head = f"{name}:{self.line}:{self.column}: {self.code} {self.message}"
        text = Lines(source).text(self.line)
        if not text:
            return f"{head}\n   Next: {self.hint}" if self.hint else head
        text = "".join(
            character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text.expandtabs(1)
        )
        stop = self.end_column if self.end_line == self.line else len(text) + 1
        width = max(1, min(stop, len(text) + 1) - self.column)
        text, column, width = _cut_around(text, self.column, width)
        shown = [head, f"{self.line:5} | {text}", f"      | {' ' * (column - 1)}{'^' * width}"]
        if self.hint:
            shown.append(f"   Next: {self.hint}")
        return "\n".join(shown)


def _cut_around(text: str, column: int, width: int) -> tuple[str, int, int]:
    """Return the part of a long line that shows a place, with the place's column and width in that part."""
    if len(text) <= _LONGEST_LINE:
        return text, column, width
    first = max(0, min(column - 1 - _BEFORE_PLACE, len(text) - _LONGEST_LINE))
    part = text[first : first + _LONGEST_LINE]
    head, tail = "…" if first else "", "…" if first + len(part) < len(text) else ""
    column = column - first + len(head)
    return f"{head}{part}{tail}", column, min(width, len(head) + len(part) + 1 - column + 1)
