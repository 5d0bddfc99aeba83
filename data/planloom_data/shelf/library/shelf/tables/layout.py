"""Rows of text printed as a table: plain, for Markdown, or as `name: value` lines."""

from collections.abc import Iterable, Sequence


def column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """The width that each column needs; short rows count as if their missing cells were empty.

    >>> column_widths([["a", "bbb"], ["cc", "d"]])
    [2, 3]
    >>> column_widths([["a"], ["b", "cc"]])
    [1, 2]
    >>> column_widths([])
    []
    """
    longest = max((len(row) for row in rows), default=0)
    widths = [0] * longest
    for row in rows:
        for place, cell in enumerate(row):
            widths[place] = max(widths[place], len(cell))
    return widths


def align(cell: str, width: int, side: str) -> str:
    """The cell padded to a width on the left (`l`), on the right (`r`) or in the centre (`c`).

    >>> align("ab", 4, "l"), align("ab", 4, "r"), align("ab", 4, "c")
    ('ab  ', '  ab', ' ab ')
    """
    if side == "r":
        return cell.rjust(width)
    if side == "c":
        return cell.center(width)
    return cell.ljust(width)


def looks_numeric(cell: str) -> bool:
    """Whether the cell reads as a number; thousands marks and a percent sign are allowed.

    >>> [looks_numeric(cell) for cell in ("1,200", "-3.5%", "n/a", "")]
    [True, True, False, False]
    """
    try:
        float(cell.replace(",", "").rstrip("%"))
    except ValueError:
        return False
    return True


def sides(body: Sequence[Sequence[str]], count: int) -> str:
    """A letter for each column: `r` where every cell that is there is a number, else `l`.

    >>> sides([["ann", "3"], ["bob", ""]], 2)
    'lr'
    >>> sides([], 2)
    'll'
    """
    letters = ""
    for place in range(count):
        cells = [row[place] for row in body if place < len(row) and row[place]]
        numeric = bool(cells) and all(looks_numeric(cell) for cell in cells)
        letters += "r" if numeric else "l"
    return letters


def render(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """The table as plain text: a header, a rule, and the rows; numbers stand to the right.

    >>> print(render(["name", "n"], [["ann", "3"], ["bob", "12"]]))
    name   n
    ----  --
    ann    3
    bob   12
    """
    widths = column_widths([header, *body])
    letters = sides(body, len(widths))
    rule = ["-" * width for width in widths]
    lines = []
    for row in [header, rule, *body]:
        cells = [align(cell, width, side) for cell, width, side in zip(row, widths, letters, strict=False)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def markdown(header: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """The table for Markdown; bars inside cells are escaped.

    >>> print(markdown(["a", "b"], [["1", "x|y"]]))
    | a | b |
    | --- | --- |
    | 1 | x\\|y |
    """
    lines = []
    for row in [header, ["---"] * len(header), *body]:
        cells = [cell.replace("|", "\\|") for cell in row]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def name_value(pairs: Sequence[tuple[str, str]]) -> str:
    """The pairs one a line, with the values standing under each other.

    >>> print(name_value([("size", "3"), ("colour", "red")]))
    size:   3
    colour: red
    """
    longest = max((len(name) for name, _ in pairs), default=0)
    return "\n".join(f"{name + ':':<{longest + 1}} {value}" for name, value in pairs)


def transpose(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The columns as rows; missing cells become empty strings.

    >>> transpose([["a", "b"], ["c"]])
    [['a', 'c'], ['b', '']]
    """
    count = len(column_widths(rows))
    return [[row[place] if place < len(row) else "" for row in rows] for place in range(count)]
