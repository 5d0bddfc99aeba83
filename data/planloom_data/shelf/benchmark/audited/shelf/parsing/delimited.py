"""Lines of fields with a mark between them, where quotes keep a mark as text.

A quote inside a quoted field is written twice, as spreadsheets do.
"""

from collections.abc import Iterable, Iterator, Sequence

QUOTE = '"'


def split_fields(line: str, mark: str = ",") -> list[str]:
    """The fields of a line, quotes resolved; spaces are kept."""
    fields = []
    field = ""
    quoted = False
    place = 0
    while place < len(line):
        letter = line[place]
        if quoted and line[place : place + 2] == QUOTE * 2:
            field += QUOTE
            place += 1
        elif letter == QUOTE:
            quoted = not quoted
        elif letter == mark and not quoted:
            fields.append(field)
            field = ""
        else:
            field += letter
        place += 1
    if quoted:
        raise ValueError(f"a quote is opened and never closed: {line}")
    return [*fields, field]


def join_fields(fields: Sequence[str], mark: str = ",") -> str:
    """The fields as one line, with quotes only where they are needed."""
    return mark.join(_quoted(field) if mark in field or QUOTE in field else field for field in fields)


def _quoted(field: str) -> str:
    return QUOTE + field.replace(QUOTE, QUOTE * 2) + QUOTE


def records(lines: Iterable[str], mark: str = ",") -> Iterator[dict[str, str]]:
    """One mapping a line, keyed by the fields of the first line; blank lines are passed over."""
    header: list[str] | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        fields = split_fields(line, mark)
        if header is None:
            header = fields
            continue
        if len(fields) != len(header):
            raise ValueError(f"line {number} has {len(fields)} fields, the header has {len(header)}")
        yield dict(zip(header, fields, strict=True))


def guess_mark(lines: Sequence[str], marks: str = ",;\t|") -> str:
    """The mark that splits all lines into the same number of fields, the most fields winning."""
    best, most = marks[0], 1
    for mark in marks:
        counts = {len(split_fields(line, mark)) for line in lines}
        if len(counts) == 1 and max(counts) > most:
            best, most = mark, max(counts)
    return best


def select(lines: Iterable[str], names: Sequence[str], mark: str = ",") -> list[str]:
    """The lines with only the named fields, header included, in the order of the names."""
    chosen = [join_fields(names, mark)]
    chosen.extend(join_fields([row[name] for name in names], mark) for row in records(lines, mark))
    return chosen
