"""How much a plan may use; every limit is on by default and reported with place and figure when hit."""

from typing import NamedTuple

__all__ = ["DEFAULT_RULES", "Limits", "Rules"]


class Rules(NamedTuple):
    """How large a source text may be.

    :ivar code_lines: lines of code; blank lines, comments and the inside of strings do not count.
    :ivar code_characters: characters outside string literals and comments.
    :ivar source_characters: characters in all.
    :ivar literal: largest absolute value of an integer literal.
    :ivar format_width: largest width or precision in a format specification.
    :ivar node_height: how deep expressions and blocks may nest; chains of one operator count once.
    """

    code_lines: int = 80
    code_characters: int = 6_000
    source_characters: int = 32_000
    literal: int = 1_000_000
    format_width: int = 1_000
    node_height: int = 100


DEFAULT_RULES = Rules()


class Limits(NamedTuple):
    """What one run of a program may use.

    :ivar steps: metered steps; every operator and method charges before it works.
    :ivar memory_bytes: bytes *allocated*, charged where a value is stored in a container or a text is made: a safe
        upper bound of what is live.
    :ivar call_depth: guest calls inside one another.
    :ivar host_frames: the same depth, each call counted with its function's height.
    :ivar data_depth: how deep values may nest.
    :ivar integer_bits: integers beyond this are an error, not a bignum.
    :ivar text_length: characters of one text, or of one result or argument when it is written out.
    :ivar collection_length: items of one collection.
    :ivar tasks_in_flight: tasks that wait at once; the rest queue, none is refused.
    :ivar host_calls: calls of words in all; one of a word that may wait counts as eight.
    :ivar bytes_to_host: estimated size of arguments in all. :ivar bytes_from_host: of results in all.
    :ivar compute_s: seconds of computation between two waits.
    """

    steps: int = 5_000_000
    memory_bytes: int = 256 * 1024 * 1024
    call_depth: int = 64
    host_frames: int = 600
    data_depth: int = 100
    integer_bits: int = 64
    text_length: int = 50_000_000
    collection_length: int = 5_000_000
    tasks_in_flight: int = 1_000
    host_calls: int = 2_000_000
    bytes_to_host: int = 1 << 30
    bytes_from_host: int = 1 << 30
    compute_s: float = 1.0
