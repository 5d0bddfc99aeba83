"""What questions of one kind have in common, apart from what is a question's own.

A question's skeleton is canonical JSON, which has no line break. Its frame is the skeleton with a line break in place
of each part's hash, and one in place of the sample: what a role always sends, a schema and tools among it, is stored
once, and a question is the number of its frame and a list of what fills it. A part that has a row of its own stands
there by number, a short one as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from planloom.questions import Parameters, Question, text_digest

from ._packing import decode, encode

__all__ = ["Frames", "contents", "fingerprint_of", "frame_of", "refilled", "skeleton_of"]

_HOLE = "\n"
_SAMPLE = '"sample":'


def frame_of(skeleton: str, digests: Iterable[str]) -> tuple[str, str]:
    """Return the frame of a skeleton that names these parts in this order, and the JSON of its sample."""
    rest, _, end = skeleton.rpartition(_SAMPLE)
    pieces = []
    for digest in digests:
        before, _, rest = rest.partition(f'"{digest}"')
        pieces.append(before)
    return _HOLE.join([*pieces, f"{rest}{_SAMPLE}", "}"]), end[:-1]


class Frames:
    """The frames of questions that were worked out lately. Of questions that share their parameters, and whose messages
    have the same roles and numbers of parts, each has the same."""

    def __init__(self) -> None:
        # With the parameters, so that nothing else is in their place in memory.
        self._known: dict[tuple[Any, ...], tuple[str, Parameters]] = {}

    def of(self, question: Question) -> tuple[str, str]:
        """Return the frame of a question, and the JSON of its sample."""
        parameters = question.parameters
        roles = [(message.role, len(message.parts)) for message in question.messages]
        kind = (question.endpoint, question.model, id(parameters), *roles)
        run, own = question.sample
        known = self._known.get(kind)
        if known is not None and type(run) is type(own) is int:
            return known[0], f"[{run},{own}]"
        frame, sample = frame_of(question.skeleton.decode(), [part.digest for part in question.parts])
        if len(self._known) == _MOST_KNOWN:
            self._known.clear()
        self._known[kind] = frame, parameters
        return frame, sample


_MOST_KNOWN = 64


def contents(parts: Sequence[int | str], sample: str) -> str:
    """Return what fills a frame as it is stored: numbers of parts and short texts, and at last the sample."""
    return f"{encode(parts)[:-1]}{',' if parts else ''}{sample}]"


def skeleton_of(frame: str, stored: str, digest_of_part: Callable[[int], str]) -> str:
    """Return the skeleton of a stored question.

    :raises ValueError: its row is damaged.
    :raises StoreError: the same.
    """
    parts, sample = _contents(stored)
    digests = [digest_of_part(part) if isinstance(part, int) else text_digest(part) for part in parts]
    return _filled(frame, [*(f'"{digest}"' for digest in digests), encode(sample)])


def refilled(frame: str, stored: str) -> tuple[dict[str, Any], list[int | str]]:
    """Return a stored question as plain data whose messages name their parts by place in the list beside it.

    :raises ValueError: its row is damaged.
    :raises StoreError: the same.
    """
    parts, sample = _contents(stored)
    data: dict[str, Any] = json.loads(_filled(frame, [*map(str, range(len(parts))), encode(sample)]))
    return data, parts


def _contents(stored: str) -> tuple[list[int | str], list[int]]:
    contents = decode(stored)
    if not isinstance(contents, list) or not contents:
        raise ValueError("what fills a frame is a list")
    return contents[:-1], contents[-1]


def _filled(frame: str, contents: Sequence[str]) -> str:
    pieces = frame.split(_HOLE)
    if len(pieces) != len(contents) + 1:
        raise ValueError("a question does not fit its frame")
    between = [piece + content for piece, content in zip(pieces, contents, strict=False)]
    return "".join([*between, pieces[-1]])


def fingerprint_of(skeleton: str) -> bytes:
    """Return the fingerprint of a skeleton as it is stored."""
    return hashlib.sha256(skeleton.encode()).digest()
