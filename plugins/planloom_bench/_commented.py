"""Examples that were commented out: whole lines of comments, and comments behind code."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Sequence

from ._errors import ExamplesLeft
from ._prompts import OF_IPYTHON, is_prompt

__all__ = ["without_commented_examples"]

_PERHAPS = re.compile(rf"#.*(?:>>>|{OF_IPYTHON})")
_TEXT = re.compile(r"#+\s*[^#\s]")
_END = re.compile(r"[\r\n]*\Z")


def without_commented_examples(lines: Sequence[str]) -> Iterator[str]:
    """The lines without examples in comments.

    :raises ExamplesLeft: there may be one, and Python's tokenizer cannot tell.
    """
    if not any(map(_PERHAPS.search, lines)):
        yield from lines
        return
    comments = _comments(lines)
    in_example = False
    for number, line in enumerate(lines, start=1):
        column = comments.get(number)
        comment = "" if column is None else line[column:]
        alone = column is not None and not line[:column].strip()
        in_example = is_prompt(comment) or (in_example and alone and bool(_TEXT.match(comment)))
        if not in_example:
            yield line
        elif not alone:
            in_example = False
            yield line[:column].rstrip() + _end(line)


def _end(line: str) -> str:
    found = _END.search(line)
    return found[0] if found else ""


def _comments(lines: Sequence[str]) -> dict[int, int]:
    """The column of the comment in each line that has one, by line number."""
    # The tokenizer knows but one line end.
    text = "".join(lines).replace("\r\n", "\n").replace("\r", "\n")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError) as error:
        raise ExamplesLeft(f"its comments cannot be told from its strings ({error}); leave this file out") from error
    return {token.start[0]: token.start[1] for token in tokens if token.type == tokenize.COMMENT}
