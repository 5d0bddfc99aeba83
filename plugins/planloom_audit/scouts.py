"""The audit's scouts: what a lead should know of the code, in a few hundred tokens, whatever its size."""

from __future__ import annotations

from collections import Counter

from planloom.kits import KitWork
from planloom.scouts import Scout, ScoutReport

__all__ = ["own_scouts"]

_MOST_FOLDERS = 12


def _the_work(work: KitWork) -> ScoutReport:
    from .work import AuditWork

    assert isinstance(work, AuditWork)
    tree = work.tree
    largest = max(tree.files, key=lambda file: file.tokens)
    folders = Counter[str]()
    for file in tree.files:
        first, slash, _ = file.path.partition("/")
        folders[first if slash else "."] += file.tokens
    shown = ", ".join(f"{name} {tokens:,}" for name, tokens in folders.most_common(_MOST_FOLDERS))
    more = f" and {len(folders) - _MOST_FOLDERS} more" if len(folders) > _MOST_FOLDERS else ""
    return ScoutReport(
        heading="THE WORK",
        lines=(
            f"{len(tree.files)} Python files, {tree.lines:,} lines, {tree.tokens:,} tokens with line numbers",
            f"largest file: {largest.path}, {largest.tokens:,} tokens",
            f"not read: {len(tree.skipped)} files" if tree.skipped else "every file can be read",
            f"tokens by folder: {shown}{more}",
            f"shards(tokens=100000) gives {len(work.shards(100_000))}, 50000 {len(work.shards(50_000))}, "
            f"20000 {len(work.shards(20_000))}",
        ),
    )


def own_scouts() -> tuple[Scout, ...]:
    """Return the kit's scouts."""
    return (Scout(name="audit-work", kit="audit", report=_the_work, share_tokens=250, order=10),)
