"""What the checker says about a source text: values, not exceptions."""

from __future__ import annotations

from typing import Literal

import attrs

__all__ = ["Problem", "Severity"]

Severity = Literal["problem", "advice"]


@attrs.frozen(order=True)
class Problem:
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
        lines = source.splitlines()
        if not 1 <= self.line <= len(lines):
            return f"{head}\n   Next: {self.hint}" if self.hint else head
        text = lines[self.line - 1].expandtabs(1)
        stop = self.end_column if self.end_line == self.line else len(text) + 1
        width = max(1, min(stop, len(text) + 1) - self.column)
        shown = [head, f"{self.line:5} | {text}", f"      | {' ' * (self.column - 1)}{'^' * width}"]
        if self.hint:
            shown.append(f"   Next: {self.hint}")
        return "\n".join(shown)
