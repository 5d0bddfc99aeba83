"""Running rules over the text of a shard, and the findings that come of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planloom.data_classes import frozen

from ._numbered import read_shard
from .parsed import ParsedFile, parse_pieces
from .rules import Hit, Rule

CLAIM_CHARS = 400
CALL_CHARS = 400
EXPECTED_CHARS = 200


class RuleFailed(Exception):
    """A rule raised an exception of its own; its text names the rule and the file."""


@frozen(kw_only=True)
class Finding:
    """A place where a rule fires; ``line`` is the printed number."""

    rule: str
    file: str
    line: int
    function: str
    claim: str
    failing_call: str
    expected: str
    confidence: float


def analyse(text: str, rules: Sequence[Rule]) -> list[Finding]:
    """Return what all rules find in a numbered shard, by file in order, then by line.

    :raises RuleFailed: a rule raised anything but RecursionError, which only means code that nests too deep for it.
    """
    shard = parse_pieces(read_shard(text))
    found = [finding for file in shard.files for finding in _of_file(file, rules)]
    order = {file.path: index for index, file in reversed(list(enumerate(shard.files)))}
    return sorted(found, key=lambda finding: (order[finding.file], finding.line, finding.rule))


def _of_file(file: ParsedFile, rules: Iterable[Rule]) -> Iterator[Finding]:
    for rule in rules:
        for hit in hits_of(rule, file):
            yield _finding(rule, file, hit)


def hits_of(rule: Rule, file: ParsedFile) -> list[Hit]:
    """Return where one rule fires in one file.

    :raises RuleFailed: see :func:`analyse`.
    """
    try:
        return list(rule.check(file))
    except RecursionError:
        return []
    except Exception as error:
        raise RuleFailed(
            f"offline rule {rule.name} failed on {file.path}: {type(error).__name__}: {error}; "
            "update or uninstall the plugin that brings it"
        ) from error


def _finding(rule: Rule, file: ParsedFile, hit: Hit) -> Finding:
    return Finding(
        rule=rule.name,
        file=file.path,
        line=file.first_line + hit.line - 1,
        function=file.function_at(hit.line),
        claim=claim_text(rule, hit),
        failing_call=_cut(hit.failing_call, CALL_CHARS),
        expected=_cut(hit.expected, EXPECTED_CHARS),
        confidence=rule.confidence,
    )


def claim_text(rule: Rule, hit: Hit) -> str:
    """Return a claim with the rule at its head and the rule's record at its end, whole in 400 characters."""
    head, tail = f"[{rule.name}] ", f" ({rule.record})"
    return head + _cut(hit.claim, CLAIM_CHARS - len(head) - len(tail)) + tail


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."
