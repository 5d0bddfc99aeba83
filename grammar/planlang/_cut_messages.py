"""What is said about faults in the text of a plan: message and hint of each."""

from __future__ import annotations

from ._token import CLOSERS, OPENERS

PROSE = (
    "this line is prose, not part of a plan",
    "delete this line, or put it behind `#`; send the plan alone.",
)
FIELD_OPEN = (
    "this `{` in an f-string is never closed",
    "close the field with `}` before the text ends, or write `{{` for a brace.",
)
EMPTY_FIELD = (
    "this f-string field is empty",
    "put an expression between the braces, or write `{{}}` for the braces themselves.",
)
SINGLE_BRACE = ("a single `}` in an f-string closes nothing", "write `}}` for a brace.")
BYTES = ("bytes are not part of the plan language", "drop the `b`: a text is enough.")
FIELD_BACKSLASH = (
    "a backslash cannot stand in a field of an f-string",
    "if the braces belong to the text, double them: `{{` and `}}`; else use the quotes without backslashes.",
)
FIELD_COMMENT = (
    "a comment cannot stand in a field of an f-string: it hides the `}`",
    "delete the `#` and what follows it up to the `}`.",
)
BACKSLASH = (
    "a backslash outside a text must be the last character of its line",
    "delete the backslash, or put the expression in brackets to go on in the next line.",
)


def unclosed(opener: str, closer: str = "") -> tuple[str, str]:
    before = f" before the `{closer}` that ends what is around it" if closer else ""
    return f"`{opener}` is never closed{before}", f"add the `{CLOSERS[opener]}` that belongs to it."


def unclosed_at_end(openers: str, line: int) -> tuple[str, str]:
    """Return what is said about brackets that swallowed the rest; their statement seems to end at ``line``."""
    closers = "".join(CLOSERS[opener] for opener in reversed(openers))
    place = f", at the end of line {line} at the latest" if line else ""
    return f"`{openers[0]}` is never closed", f"add the `{closers}` that is missing{place}."


def mismatch(closer: str, opener: str) -> tuple[str, str]:
    return f"`{closer}` cannot close `{opener}`", f"write `{CLOSERS[opener]}` here."


def stray_closer(closer: str) -> tuple[str, str]:
    return f"`{closer}` closes nothing: no `{OPENERS[closer]}` is open here", "delete it, or open it before."


def unclosed_quote(quote: str) -> tuple[str, str]:
    if len(quote) == 3:
        return f"the text that starts here is never closed by {quote}", f"add {quote} where it ends, or before it."
    return (
        "the text that starts here is not closed on its line",
        f"close it with {quote} before the line ends; write a line break inside it as `\\n`.",
    )


def over_lines(quote: str) -> tuple[str, str]:
    return (
        "the text that starts here goes on in the next lines, which one quote cannot do",
        f"put {quote * 3} where it begins and where it ends.",
    )


def closed_too_early(quote: str, column: int) -> tuple[str, str]:
    other = '"' if quote == "'" else "'"
    return (
        f"this {quote} ends the text that starts in column {column}, but more of it follows",
        f"write `\\{quote}` for a quote inside of it, or begin and end the text with {other}.",
    )


def one_quote_more(quote: str) -> tuple[str, str]:
    return f"this {quote} opens another text, which is never closed", "delete it."


def escaped_quote(quote: str) -> tuple[str, str]:
    return (
        f"this text is not closed: `\\{quote}` at its end is a quote inside of it",
        f"end it with `\\\\{quote}`: a backslash and then the quote that closes the text.",
    )


def template(text: str) -> tuple[str, str]:
    return "a text between backticks is not Python", f"write `{text}`." if text else 'use quotes: `"..."` or `f"..."`.'


def curly_quote(char: str, straight: str) -> tuple[str, str]:
    kind = "a curly quote" if "\u2018" <= char <= "\u201e" else "a quote of another script"
    return f"this is {kind}, which Python does not read", f"use straight quotes everywhere: {straight}."


def prefix(opening: str, prefix: str, quote: str) -> tuple[str, str]:
    shown = opening[: len(prefix)]
    if prefix in ("t", "tr", "rt"):
        hint = f"write `f{quote}` for it."
        return f"template texts (`{shown}{quote}`) are not part of the plan language", hint
    return f"`{shown}` is not a prefix of a text", f"write `{'r' if 'r' in prefix else ''}{quote}`."


def bad_conversion(letter: str) -> tuple[str, str]:
    return f"`!{letter}` is not a conversion", "use `!r`, `!s` or `!a`, or leave it out."


def too_deep(most: int) -> tuple[str, str]:
    return (
        f"this nests more than {most} levels deep",
        "give parts of it names of their own, in lines before this one.",
    )
