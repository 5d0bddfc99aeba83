"""Lines of text: folding them to a width, indenting, aligning and shortening them.

Widths count characters. Words are never broken; a word wider than the line stands on a line of its own.
"""

from collections.abc import Iterable


def wrap(text: str, width: int) -> list[str]:
    """The words of the text on as few lines as a greedy fill gives, each at most `width` wide."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and len(longer) >= width:
            lines.append(line)
            line = word
        else:
            line = longer
    if line:
        lines.append(line)
    return lines


def dedent(block: str) -> str:
    """The block without the indentation that all its lines share; blank lines do not count."""
    lines = block.split("\n")
    margins = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()]
    shared = min(margins, default=0)
    return "\n".join(line[shared:] if line.strip() else "" for line in lines)


def indent(block: str, prefix: str, *, first: str | None = None) -> str:
    """The block with `prefix` before every line that is not blank; `first` replaces it on the first line."""
    shown = []
    for number, line in enumerate(block.split("\n")):
        mark = first if number == 0 and first is not None else prefix
        shown.append(mark + line if line.strip() else line)
    return "\n".join(shown)


def shorten(text: str, width: int, *, mark: str = "...") -> str:
    """The text on one line, cut after a whole word and marked when it is wider than `width`.

    The mark counts towards the width. Where not even one word fits, only the mark is left.
    """
    words = text.split()
    whole = " ".join(words)
    if len(whole) <= width:
        return whole
    room = width - len(mark)
    while words and len(" ".join(words)) > room:
        words.pop()
    return " ".join(words) + mark


def columns(names: Iterable[str], width: int, *, gap: int = 2) -> list[str]:
    """The names in equal columns, read down and then across, as many columns as fit the width."""
    cells = list(names)
    if not cells:
        return []
    widest = max(len(cell) for cell in cells)
    across = max(1, (width + gap) // (widest + gap))
    down = -(-len(cells) // across)
    lines = []
    for top in range(down):
        row = cells[top::down]
        lines.append((" " * gap).join(cell.ljust(widest) for cell in row).rstrip())
    return lines


def number_lines(block: str, *, start: int = 1) -> str:
    """The block with a right-aligned number and a bar before every line."""
    lines = block.split("\n")
    digits = len(str(start + len(lines) - 1))
    return "\n".join(f"{number:>{digits}}| {line}" for number, line in enumerate(lines, start))
