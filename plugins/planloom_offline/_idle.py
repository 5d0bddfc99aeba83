"""idle-continue: a ``continue`` after which the loop would have gone on anyway.

Where nothing follows, ``continue`` says nothing; ``break`` would. A comment in the code's own words is no reason for an
``if`` whose only statement has no effect.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .parsed import ParsedFile
from .rules import Hit


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find statements that end a turn of a loop which ends there."""
    loops: list[ast.For | ast.AsyncFor | ast.While] = [loop for loop, _ in file.sites(ast.While)]
    loops += [loop for loop, _ in file.sites(ast.For)]
    loops += [loop for loop, _ in file.sites(ast.AsyncFor)]
    for loop in loops:
        yield from _last(loop.body)


def _last(body: Sequence[ast.stmt]) -> Iterator[Hit]:
    match body[-1]:
        case ast.Continue() as found if len(body) > 1:
            yield Hit(
                line=found.lineno,
                claim="`continue` has no effect: the turn of the loop ends here anyway",
                failing_call="continue",
                expected="break",
            )
        case ast.If(body=inner, orelse=[]):
            yield from _last(inner)
