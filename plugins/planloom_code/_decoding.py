"""From a file's bytes to its text, the way Python itself would read it.

A byte order mark wins, then a PEP 263 cookie in the first two lines, then UTF-8. ``tokenize.detect_encoding``
is not used: it takes only LF for the end of a line, and refuses a cookie line that holds a non-ASCII byte,
which the compiler accepts.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

_MARKS = (
    # UTF-32 first: its little-endian mark begins with that of UTF-16.
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"[ \t\f]*(?:#.*)?\Z")
_LINE_END = re.compile(rb"\r\n|\r|\n")
# An encoding of source keeps ASCII as it is; utf-7, punycode and unicode_escape do not, and would move lines.
_ASCII_SAMPLE = b"az AZ 09 +-*/=<>()[]{}.,:;#'\"_\r\n"


class Undecodable(ValueError):
    """The bytes are no text; the message is the reason, without the path."""


def decode(data: bytes) -> tuple[str, str]:
    """The text of ``data`` without its byte order mark, and the encoding's name; raises `Undecodable`."""
    encoding, body = _encoding_of(data)
    try:
        text = body.decode(encoding)
    except (UnicodeError, LookupError, ValueError) as error:
        raise Undecodable(f"not decodable as {encoding}{_where(error, body)}") from error
    if "\0" in text:
        line = len(_LINE_END.findall(text[: text.index("\0")].encode("utf-8", "replace"))) + 1
        raise Undecodable(f"holds a NUL character in line {line}, so it is no Python source")
    return text, encoding


def _encoding_of(data: bytes) -> tuple[str, bytes]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, data[len(mark) :]
    named = _cookie(data)
    if named is None:
        return "utf-8", data
    if not _keeps_ascii(named):
        raise Undecodable(f"names the encoding {named!r}, which is unknown or not one for source code")
    return named, data


def _cookie(data: bytes) -> str | None:
    for line in _LINE_END.split(data[:4096], maxsplit=2)[:2]:
        match = _COOKIE.match(line)
        if match:
            return match[1].decode("ascii", "replace").lower()
        if not _BLANK.match(line):
            return None
    return None


@lru_cache(maxsize=64)
def _keeps_ascii(encoding: str) -> bool:
    try:
        kept = _ASCII_SAMPLE.decode(encoding) == _ASCII_SAMPLE.decode("ascii")
        # unicode_escape reads these two characters as a line end.
        return kept and len(b"\\n".decode(encoding)) == 2
    except (LookupError, UnicodeError, ValueError):
        return False


def _where(error: Exception, body: bytes) -> str:
    if not isinstance(error, UnicodeDecodeError):
        return ""
    line = len(_LINE_END.findall(body[: error.start])) + 1
    return f": byte 0x{body[error.start]:02x} in line {line}"
