"""Examples and their answers, recognised line by line.

On purpose by other means than those that cut them out: no syntax tree, only what a line begins with. A line of an
example may stand in what auditors read only as often as the published file has it outside of examples, so that an
answer like ``True`` raises no alarm.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from planloom_code import split_lines

from .leak import Leak

__all__ = ["answers_left", "prompts_left"]

_BEGINS = re.compile(
    r"\s*(?P<mark>#[#\s]*|[rRuUbBfF]{0,2}(?:\"\"\"|'''))?\s*"
    r"(?:>>>\s*[^\s>=]|(?:In|Out)\s?\[\d+\]:\s*\S|\.\.\s(?:testcode|testoutput|ipython)::)"
)
_BEHIND_CODE = re.compile(r"(?P<code>.*?\S.*?)\s#+\s*>>>\s*[^\s>=]")
_COMMENT = re.compile(r"\s*#+\s*[^\s#]")
_QUOTES = ('"""', "'''")
_OPENING = re.compile(r"^[rRuUbBfF]{0,2}(?:\"\"\"|''')")
_CLOSING = re.compile(r"\"\"\"|'''")


def prompts_left(path: str, text: str) -> Iterator[Leak]:
    """Every line that an example begins on."""
    for number, line in enumerate(split_lines(text), start=1):
        if _BEGINS.match(line) or _is_behind_code(line):
            message = f"an example is left: {line.strip()[:80]!r}; leave the file out of the library"
            yield Leak(path=f"audited/{path}", line=number, message=message)


def answers_left(path: str, audited: str, published: str, planted: Iterable[str]) -> Iterator[Leak]:
    """Lines of the published file's examples that the audited file has more often than the rest of the published one.

    :param planted: lines that bugs have put in.
    """
    allowed, telling = _outside_and_inside(published)
    allowed.update(_bare(line) for line in planted)
    for number, line in enumerate(split_lines(audited), start=1):
        bare = _bare(line)
        if bare in telling:
            allowed[bare] -= 1
            if allowed[bare] < 0:
                message = f"a line of an example is left: {bare[:80]!r}; leave the file out of the library"
                yield Leak(path=f"audited/{path}", line=number, message=message)


def _is_behind_code(line: str) -> bool:
    match = _BEHIND_CODE.match(line) if ">>>" in line else None
    return match is not None and not any(match["code"].count(quote) % 2 for quote in "'\"")


def _outside_and_inside(text: str) -> tuple[Counter[str], set[str]]:
    """How often each line stands outside of examples, and the lines that stand in some."""
    outside: Counter[str] = Counter()
    inside: set[str] = set()
    in_example = in_comment = False
    for line in split_lines(text):
        begins = _BEGINS.match(line)
        if begins:
            in_example, in_comment = True, (begins["mark"] or "").startswith("#")
        elif line.strip().startswith(_QUOTES) or (in_comment and not _COMMENT.match(line)):
            in_example = in_comment = False
        bare = _bare(line)
        in_example = in_example and bool(bare)
        if in_example:
            inside.add(bare)
        else:
            outside[bare] += 1
        # The quotes that open a docstring do not close it.
        opened = begins is not None and (begins["mark"] or "").endswith(_QUOTES)
        if sum(map(line.count, _QUOTES)) > opened:
            in_example = in_comment = False
    return outside, inside


def _bare(line: str) -> str:
    """What a line says, without its indentation, the mark of a comment, and a docstring's quotes with what follows."""
    bare = _OPENING.sub("", line.strip().lstrip("#").strip())
    return _CLOSING.split(bare, maxsplit=1)[0].strip()
