"""Settings files of `name = value` lines under `[section]` headings, with comments.

Values are read as what they look like: yes and no, whole numbers, fractions, lists in commas, else text.
"""

from collections.abc import Mapping

Value = bool | int | float | str | list["Value"]
YES = frozenset({"yes", "true", "on"})
NO = frozenset({"no", "false", "off"})


def read_value(text: str) -> Value:
    """The value that the text looks like; quotes keep it as text."""
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1]
    if "," in text:
        return [read_value(part) for part in text.split(",") if part.strip()]
    if text.lower() in YES:
        return True
    if text.lower() in NO:
        return False
    return _number(text)


def _number(text: str) -> Value:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def strip_comment(line: str) -> str:
    """The line without what follows a `#`; inside quotes a `#` is plain text."""
    quoted = False
    for place, letter in enumerate(line):
        if letter == '"':
            quoted = not quoted
        elif letter == "#" and not quoted:
            return line[:place].rstrip()
    return line.rstrip()


def read_settings(text: str) -> dict[str, dict[str, Value]]:
    """The settings by section; those before the first heading are in the section with the empty name.

    Blank lines and comments are passed over, and a section that comes twice is one section.
    """
    sections: dict[str, dict[str, Value]] = {"": {}}
    current = sections[""]
    for number, raw in enumerate(text.splitlines(), start=1):
        line = strip_comment(raw)
        if not line:
            continue
        if line.startswith("[") and line.endswith("]"):
            current = sections.setdefault({}, line[1:-1].strip())
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise ValueError(f"line {number}: expected name = value, got {line!r}")
        current[name.strip()] = read_value(value)
    return sections


def write_value(value: Value) -> str:
    """The text that is read back as the value.

    Lists need two parts or more, texts in them must hold no comma, and no text may hold a quote.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(write_value(part) for part in value)
    if isinstance(value, str) and ("#" in value or read_value(value) != value):
        return f'"{value}"'
    return str(value)


def write_settings(sections: Mapping[str, Mapping[str, Value]]) -> str:
    """The settings as text, sections in their order, with a blank line between them."""
    blocks = []
    for section, values in sections.items():
        lines = [f"[{section}]"] if section else []
        lines += [f"{name} = {write_value(value)}" for name, value in values.items()]
        if lines:
            blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
