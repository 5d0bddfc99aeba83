"""Rows of text printed as a table: plain, for Markdown, or as `name: value` lines."""

from collections.abc import Iterable, Sequence


def column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """The width that each column needs; short rows count as if their missing cells were empty."""
    longest = max((len(row) for row in rows), default=0)
    widths = [0] * longest
    for row in rows:
        for place, cell in enumerate(row):
            widths[place] = max(widths[place], len(cell))
    return widths


def align(cell: str, width: int, side: str) -> str:
    """The cell padded to a width on the left (`l`), on the right (`r`) or in the centre (`c`)."""
    if side == "r":
        return cell.rjust(width)
    if side == "c":
        return cell.center(width)
    return cell.ljust(width)


def looks_numeric(cell: str) -> bool:
    """Whether the cell reads as a number; thousands marks and a percent sign are allowed."""
    try:
        float(cell.replace(",", "").rstrip("%"))
    except ValueError:
        return False
    return True


def sides(body: Sequence[Sequence[str]], count: int) -> str:
    """A letter for each column: `r` where every cell that is there is a number, else `l`."""
    letters = ""
    for place in range(count):
        cells = [row[place] for row in body if place < len(row) and row[place]]
        numeric = bool(cells) and all(looks_numeric(cell) for cell in cells)
        letters = "r" if numeric else "l"
    return letters


def render(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """The table as plain text: a header, a rule, and the rows; numbers stand to the right."""
    widths = column_widths([header, *body])
    letters = sides(body, len(widths))
    rule = ["-" * width for width in widths]
    lines = []
    for row in [header, rule, *body]:
        cells = [align(cell, width, side) for cell, width, side in zip(row, widths, letters, strict=False)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def markdown(header: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """The table for Markdown; bars inside cells are escaped."""
    lines = []
    for row in [header, ["---"] * len(header), *body]:
        cells = [cell.replace("|", "\\|") for cell in row]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def name_value(pairs: Sequence[tuple[str, str]]) -> str:
    """The pairs one a line, with the values standing under each other."""
    longest = max((len(name) for name, _ in pairs), default=0)
    return "\n".join(f"{name + ':':<{longest + 1}} {value}" for name, value in pairs)


def transpose(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The columns as rows; missing cells become empty strings."""
    count = len(column_widths(rows))
    return [[row[place] if place < len(row) else "" for row in rows] for place in range(count)]
