"""The process that does the work: rules once, then jobs one by one, until its input ends.

A frame is eight bytes of length and that many bytes. The first holds the rules, pickled by the parent; each further
one is a job's name, a line end and its text; each answer is JSON. The input ends when the parent closes it or dies.
"""

from __future__ import annotations

import gc
import json
import pickle
import sys
from collections.abc import Sequence
from typing import Any, BinaryIO

from ._jobs import JOBS, RuleFailed
from .rules import Rule

LENGTH_BYTES = 8


def frame(payload: bytes) -> bytes:
    """Return a payload with its length before it."""
    return len(payload).to_bytes(LENGTH_BYTES, "big") + payload


def _read(stream: BinaryIO) -> bytes | None:
    head = stream.read(LENGTH_BYTES)
    return stream.read(int.from_bytes(head, "big")) if len(head) == LENGTH_BYTES else None


def _answer(request: bytes, rules: Sequence[Rule]) -> bytes:
    name, _, text = request.decode("utf-8", "surrogatepass").partition("\n")
    try:
        answer: dict[str, Any] = {"value": JOBS[name](text, rules)}
    except RuleFailed as error:
        answer = {"failed": str(error)}
    return json.dumps(answer).encode()


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until they end."""
    # Trees are garbage a shard at a time; looking for it while they grow takes a third of the time.
    gc.disable()
    first = _read(requests)
    rules = pickle.loads(first) if first else ()  # noqa: S301  # our own parent wrote it
    while (request := _read(requests)) is not None:
        answers.write(frame(_answer(request, rules)))
        answers.flush()
        gc.collect()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
