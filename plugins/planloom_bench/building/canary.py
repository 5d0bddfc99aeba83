"""A proof that must find a bug, made before all others.

When the harness loads the wrong file, every edit goes unnoticed, and that looks exactly like a library with poor
examples. So a function that the examples call is first made to raise.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from planloom_bench._errors import DeafProofs
from planloom_bench.mutators import ParsedFile
from planloom_bench.proving.inside.jobs import RAN

from .candidates import Candidate
from .workers import Proofs

__all__ = ["check_proofs"]

_TRIED = 8
_EXAMPLE = re.compile(r"^\s*(?:>>>|\.\.\.) (.*)$", re.MULTILINE)
_INDENTATION = re.compile(r"[ \t]*")


def check_proofs(proofs: Proofs, candidates: Sequence[Candidate]) -> None:
    """Return when a function that is made to raise fails an example.

    :raises DeafProofs: none does, so nothing that these proofs say can be believed.
    """
    tried = []
    for candidate, function, text in islice(_broken(candidates), _TRIED):
        outcome = proofs.prove(candidate.job._replace(text=text))
        if outcome.fate == RAN and outcome.failed:
            return
        tried.append(f"{candidate.path}: {function} ({outcome.fate}, {outcome.failed} failed)")
    if tried:
        raise DeafProofs(
            f"no example noticed that {'; '.join(tried)} was made to raise. Nothing was planted; check that the folder "
            "is the library's own and that its examples call its functions"
        )


def _broken(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, str, str]]:
    """Files with a function made to raise that their examples name."""
    for candidate in candidates:
        called = " ".join(_EXAMPLE.findall(candidate.source.text))
        for node in ast.walk(candidate.parsed.tree):
            if isinstance(node, ast.FunctionDef) and re.search(rf"\b{node.name}\(", called):
                text = _raising(candidate.parsed, node)
                if text is not None:
                    yield candidate, node.name, text
                    break


def _raising(file: ParsedFile, function: ast.FunctionDef) -> str | None:
    """The text with a ``raise`` in front of what the function does; None where there is no line of its own for it."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not body or body[0].lineno == function.lineno or isinstance(body[0], ast.FunctionDef | ast.ClassDef):
        return None
    at = body[0].lineno - 1
    indentation = _INDENTATION.match(file.lines[at])
    assert indentation is not None, "it matches anything"
    return "".join([*file.lines[:at], f"{indentation[0]}raise RuntimeError\n", *file.lines[at:]])
