"""Reading the values of a model's report: lines, confidence and texts in whatever form they come.

Lenient where the meaning is plain, and a reason where it is not; never a guess about which line was meant.
"""

from __future__ import annotations

import json
import math
import re

_LINES = re.compile(
    r"(?:lines?|L)?\s*(\d{1,9})(?:\.0+)?\s*(?:(?:-|–|—|\.\.\.?|,|to|and)\s*L?(\d{1,9}))?(?::\d+)?", re.IGNORECASE
)
_FAR = 10**9
_NUMBER = re.compile(r"([0-9]*\.?[0-9]+)\s*(%?)")


def lines_in(value: object) -> tuple[int, int | None] | str:
    """First and last line that ``value`` names (the last None for a single line), or the reason why not."""
    if isinstance(value, list | tuple) and 1 <= len(value) <= 2:
        ends = [_whole(end) for end in value]
        if len(ends) == 1 and ends[0] is None and isinstance(value[0], str):
            return lines_in(value[0])
        first, last = ends[0], ends[-1] if len(ends) == 2 else None
        if first is None or None in ends:
            return f"line {_brief(value)} is no range of two lines"
    elif isinstance(value, str):
        match = _LINES.fullmatch(value.strip())
        if match is None:
            return f"line {_brief(value)} is no number"
        first, last = int(match[1]), int(match[2]) if match[2] else None
    else:
        whole = _whole(value)
        if whole is None:
            return f"line {_brief(value)} is no whole number"
        first, last = whole, None
    if first < 1:
        return f"line {first} is below 1"
    return first, last if last is not None and last > first else None


def range_in(line: object, end_line: object) -> tuple[int, int | None] | str:
    """The same of a line and what an item says apart of where it ends, which counts where the line names no range."""
    lines = lines_in(line)
    if isinstance(lines, str) or lines[1] is not None or end_line is None:
        return lines
    end = lines_in(end_line)
    last = lines[0] if isinstance(end, str) else end[1] or end[0]
    return lines[0], last if last > lines[0] else None


def confidence_in(value: object) -> float:
    """A confidence from 0 to 1; 0.5 when ``value`` is not a number."""
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value.strip())
        number: float = float(match[1]) / (100 if match[2] else 1) if match else 0.5
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = 0.5 if isinstance(value, float) and math.isnan(value) else value
    else:
        number = 0.5
    # Bounded before it is converted, because a whole number may be too large for a float.
    return float(min(max(number, 0), 1))


def text_in(value: object, limit: int) -> str:
    """A text of at most ``limit`` characters that any store can hold; other JSON values as JSON, null empty."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else _json(value)
    storable = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
    return storable.strip()[:limit].rstrip()


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        # Nested or counting beyond what Python converts: the value says nothing, the rest of the item may.
        return ""


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return _whole(int(value)) if value.is_integer() else None
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 10:
        return int(value)
    # No file has a line beyond these bounds, and longer numbers cannot even be printed.
    return max(-_FAR, min(value, _FAR)) if isinstance(value, int) else None


def _brief(value: object) -> str:
    return text_in(value if isinstance(value, str) else _json(value), 40) or "''"
