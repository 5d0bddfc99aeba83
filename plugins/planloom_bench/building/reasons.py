"""Why files are left out of a build, for people: counted by reason with a few names each, or file by file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .library import LeftOut

__all__ = ["by_file", "by_reason", "counted_reasons"]

_NAMED = 3
_NONE = "  no file was left out"
# Nobody asks which files these are: they are as they should be.
_AS_IT_SHOULD_BE = frozenset({"documentation", "examples", "has no examples", "tests"})


DOCTESTS_WANTED = (
    "Give a library with doctests in its docstrings, three or more a file: `>>> f(1)`, and below it what that gives"
)


def counted_reasons(left_out: Iterable[LeftOut]) -> str:
    """The reasons with their counts, the most frequent first, in one line."""
    return "; ".join(f"{len(files)} {reason}" for reason, files in _grouped(left_out)) or _NONE.strip()


def by_reason(left_out: Sequence[LeftOut]) -> Iterator[str]:
    """A line a reason: its count, and the first files that somebody may want to look at."""
    groups = _grouped(left_out)
    yield from [] if groups else [_NONE]
    for reason, files in groups:
        named = () if reason in _AS_IT_SHOULD_BE else files[:_NAMED]
        shown = ", ".join(_with_detail(left) for left in named)
        more = f" and {len(files) - len(named):,} more" if named and len(files) > len(named) else ""
        yield f"  {len(files):>5}  {reason}" + (f": {shown}{more}" if named else "")


def by_file(left_out: Sequence[LeftOut]) -> Iterator[str]:
    """A line a file, with its reason and what happened in it."""
    yield from [] if left_out else [_NONE]
    for left in left_out:
        yield f"  {left.path}: {left.reason}" + (f" ({left.detail})" if left.detail else "")


def _with_detail(left: LeftOut) -> str:
    return f"{left.path} ({left.detail})" if left.detail else left.path


def _grouped(left_out: Iterable[LeftOut]) -> Sequence[tuple[str, list[LeftOut]]]:
    groups: dict[str, list[LeftOut]] = {}
    for left in left_out:
        groups.setdefault(left.reason, []).append(left)
    return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
