"""What is said about faults in the text of a plan: message and hint of each."""

from __future__ import annotations

from ._token import CLOSERS, OPENERS

PROSE = (
    "this line is prose, not part of a plan",
    "send the plan alone; put explanations behind `#`.",
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
BYTES = ("bytes are not part of the plan language", "drop the `b`: use a text.")
BACKSLASH = (
    "a backslash outside a text must be the last character of its line",
    "delete the backslash, or put the expression in brackets to go on in the next line.",
)


def unclosed(opener: str, closer: str = "") -> tuple[str, str]:
    before = f" before the `{closer}` that ends what is around it" if closer else ""
    return f"`{opener}` is never closed{before}", f"add the `{CLOSERS[opener]}` that belongs to it."


def mismatch(closer: str, opener: str) -> tuple[str, str]:
    return f"`{closer}` cannot close `{opener}`", f"write `{CLOSERS[opener]}` here."


def stray_closer(closer: str) -> tuple[str, str]:
    return f"`{closer}` closes nothing: no `{OPENERS[closer]}` is open here", f"delete this `{closer}`."


def unclosed_quote(quote: str) -> tuple[str, str]:
    if len(quote) == 3:
        return f"the text that starts here is never closed by {quote}", f"add {quote} where the text ends."
    return (
        "the text that starts here is not closed on its line",
        f"close it with {quote} before the line ends; write a line break inside it as `\\n`.",
    )


def curly_quote(straight: str) -> tuple[str, str]:
    return "this is a curly quote, which Python does not read", f"use straight quotes: {straight}."


def prefix(opening: str, prefix: str, quote: str) -> tuple[str, str]:
    shown = opening[: len(prefix)]
    if prefix in ("t", "tr", "rt"):
        return f"template texts (`{shown}{quote}`) are not part of the plan language", "write an f-string."
    return f"`{shown}` is not a prefix of a text", "use none, `r` or `f`."


def bad_conversion(letter: str) -> tuple[str, str]:
    return f"`!{letter}` is not a conversion", "use `!r`, `!s` or `!a`, or leave it out."


def too_deep(most: int) -> tuple[str, str]:
    return (
        f"this nests more than {most} levels deep",
        "give parts of it names of their own, in lines before this one.",
    )
