"""What a mutator is, and which of its edits are sound.

A mutator proposes edits of one kind. Whoever plants asks `is_sound` before it spends a proof, so a mutator may be
written for the common case: what does not parse, changes nothing or strays from a function is dropped here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from .parsed import Edit, ParsedFile

__all__ = ["Mutator", "is_sound", "sites_of"]


@attrs.frozen(kw_only=True)
class Mutator:
    """A kind of one-line edit.

    :ivar name: what keys and manifests call the kind: snake case.
    :ivar summary: one line for people.
    :ivar sites: the edits of this kind that a file offers. It must depend on the file alone.
    """

    name: str
    summary: str
    sites: Callable[[ParsedFile], Iterable[Edit]]


def sites_of(mutator: Mutator, file: ParsedFile) -> tuple[Edit, ...]:
    """The distinct edits that a mutator offers, by their place in the file; what leaves the line as it is, is none."""
    edits = {edit for edit in mutator.sites(file) if file.edited_line(edit) != file.lines[edit.line - 1]}
    return tuple(sorted(edits, key=lambda edit: (edit.line, edit.start, edit.stop, edit.text)))


def is_sound(edit: Edit, file: ParsedFile) -> bool:
    """Whether an edit stays in one line of one function, parses, and changes what the code means."""
    from planloom_code import Places, Unparsable, parse

    function = file.places.function_at(edit.line)
    if function is None or "\n" in edit.text or "\r" in edit.text:
        return False
    text = file.edited(edit)
    try:
        tree = parse(text)
    except Unparsable:
        return False
    return ast.dump(tree) != ast.dump(file.tree) and Places(text).function_at(edit.line) == function
