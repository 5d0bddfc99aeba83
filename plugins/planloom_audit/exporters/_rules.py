"""SARIF's rules: one for each lens and each offline rule that found something.

An alert lives as long as its rule's id stays the same, so ids come from the lens or the rule and never from a model's
words.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from planloom_audit.lenses import own_lenses
from planloom_audit.report import Bug

from ._markdown_text import paragraph

__all__ = ["level_of", "rule_id", "rules_of"]

_LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note", "unranked": "warning"}
_DEFAULT_LEVEL = "warning"
_ADVICE = (
    "Run the failing call of the finding and compare what it gives with what is expected. "
    "If the code is right, suppress the finding with the reason, so that later runs stay quiet about it."
)


def level_of(severity: str) -> str:
    """SARIF's level for a severity."""
    return _LEVELS[severity]


def rule_id(bug: Bug) -> str:
    """The id of the rule that a finding belongs to, such as ``lens/boundaries`` or ``rule/swapped-arguments``."""
    return f"rule/{bug.rule}" if bug.rule else f"lens/{bug.lens}"


def rules_of(bugs: Iterable[Bug]) -> list[dict[str, Any]]:
    """The descriptors of all rules that the findings belong to, sorted by id."""
    samples = {rule_id(bug): bug for bug in bugs}
    return [_rule(samples[name]) for name in sorted(samples)]


def _rule(bug: Bug) -> dict[str, Any]:
    return _descriptor(rule_id(bug), *(_offline_words(bug.rule) if bug.rule else _lens_words(bug.lens)))


def _descriptor(name: str, short: str, full: str, precision: str, tag: str) -> dict[str, Any]:
    return {
        "id": name,
        "shortDescription": {"text": short},
        "fullDescription": {"text": full},
        "help": {"text": f"{full}\n\n{_ADVICE}", "markdown": f"{paragraph(full)}\n\n{_ADVICE}"},
        "defaultConfiguration": {"level": _DEFAULT_LEVEL},
        "properties": {
            "tags": ["correctness", "planloom", tag],
            "precision": precision,
            "problem.severity": _DEFAULT_LEVEL,
        },
    }


def _offline_words(rule: str) -> tuple[str, str, str, str]:
    full = (
        f"The offline rule {rule} found code that looks like a behaviour bug. It is a static check: no model read the "
        "code, and most reports of such checks are not bugs."
    )
    return f"Offline rule {rule}", full, "low", "offline-rule"


def _lens_words(lens: str) -> tuple[str, str, str, str]:
    full = (
        f"A model that read the code through the lens {lens} reported a behaviour bug, and skeptics did not refute it."
    )
    focus = _paragraphs().get(lens, "")
    return f"Behaviour bug, lens {lens}", f"{full} {focus}".strip(), "medium", "model"


@cache
def _paragraphs() -> dict[str, str]:
    """What the kit's own lenses tell a worker to look for; other kits' lenses are known by name only."""
    return {lens.name: lens.paragraph for lens in own_lenses()}
