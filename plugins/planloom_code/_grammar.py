"""Parsing with the grammar of the Python that runs, whatever the text.

Some text makes the compiler raise something other than SyntaxError (NUL characters, very deep nesting), and
some makes it warn. All of it becomes one exception, `Unparsable`, or silence.
"""

from __future__ import annotations

import ast
import sys
import threading
import warnings

from planloom_code._errors import Unparsable

# catch_warnings changes the process, so two threads inside it at once could leave warnings off for good.
_WARNINGS = threading.Lock()

GRAMMAR = f"Python {sys.version_info.major}.{sys.version_info.minor}"


def parse(text: str) -> ast.Module:
    """The syntax tree of ``text``; raises `Unparsable` with the reason, the line and the grammar's name."""
    try:
        with _WARNINGS, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        raise Unparsable(_reason(error), error.lineno, GRAMMAR) from error
    except (RecursionError, MemoryError) as error:
        raise Unparsable("nested too deeply for the parser", None, GRAMMAR) from error
    except ValueError as error:
        raise Unparsable(str(error), None, GRAMMAR) from error


def _reason(error: SyntaxError) -> str:
    where = f" in line {error.lineno}" if error.lineno else ""
    return f"{error.msg}{where}"
