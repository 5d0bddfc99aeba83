"""What this package raises.

    CodeError
    ├── NoSuchPath       nothing is there
    ├── NotSource        neither a folder nor a Python source file
    ├── Unreadable       the system refuses to open it
    ├── HiddenKey        the half of a benchmark that no auditor may read
    ├── BadPattern       an include or exclude pattern that cannot be read
    ├── NotInTree        a path that is no file of the audited tree
    ├── FileChanged      a file that is no longer what was packed
    └── Unparsable       text that this Python's grammar refuses

Every message says what happened, where, and what to do next.
"""

from __future__ import annotations


class CodeError(Exception):
    """A mistake of the caller or of the audited folder, worded for a person."""


class NoSuchPath(CodeError):
    """The path to audit does not exist."""


class NotSource(CodeError):
    """The path to audit is neither a folder nor a Python source file."""


class Unreadable(CodeError):
    """The system refuses to open the path."""


class HiddenKey(CodeError):
    """The path lies in the hidden half of a benchmark."""


class BadPattern(CodeError):
    """An include or exclude pattern does not follow the rules of .gitignore."""


class NotInTree(CodeError):
    """The path is no file of the tree; nothing was opened."""


class FileChanged(CodeError):
    """A file's content differs from the manifest made when the tree was opened."""


class Unparsable(CodeError):
    """The text is not Python of the grammar that runs; ``line`` is 1-based or None."""

    def __init__(self, reason: str, line: int | None, grammar: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.grammar = grammar
