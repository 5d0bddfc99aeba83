"""What the work of a plan costs, as data: the reference is made of it, and a test holds the interpreter to it.

A charge is what one more item, entry or character adds. Every statement costs a step and another for each eight nodes
of its expressions; a call of a plan's function, or one turn of a loop or comprehension, costs its statements.

A step stands for at most a microsecond of work on the machine these were measured on (2 cores at 2.5 GHz, CPython 3.11,
2026): one hundredth of the default limits, 50,000 steps or 2.7 MB, is spent in less than 50 ms whatever the operation.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["CHARGES", "SETUP", "Charge"]

SETUP: Final = """\
n = args["n"]
xs = list(range(n))
ys = list(reversed(xs))
texts = [f"{x:07}" for x in xs]
text = "ab" * (n // 2)
other = "ab" * (n // 2)
entries = {x: x for x in xs}
more = {x: x for x in xs}
some = set(xs)
many = set(ys)
"""


class Charge(NamedTuple):
    """What one operation costs for each of what it goes through.

    ``example`` is an expression over the names of :data:`SETUP`, which all have ``n`` items or characters.
    """

    operation: str
    example: str
    each: str
    steps: float
    size_bytes: float


CHARGES: Final = (
    Charge("a copy or a slice of a list", "xs[1:]", "item", 1 / 16, 48),
    Charge("list + list", "xs + ys", "item of the result", 1 / 16, 48),
    Charge("tuple(...)", "tuple(xs)", "item", 1 / 16, 48),
    Charge("extend", "xs.extend(ys)", "item that joins", 1 / 8, 96),
    Charge("insert, pop and clear", "xs.insert(0, 1)", "item of the list", 1 / 32, 0),
    Charge("reverse", "xs.reverse()", "item", 1 / 32, 0),
    Charge("in, for a number in a list", "-1 in xs", "item", 1 / 16, 0),
    Charge("index, count and remove", "xs.index(n - 1)", "item looked at", 1, 0),
    Charge("== of lists and tuples", "xs == ys[::-1]", "item until they differ", 1 + 1 / 16, 48),
    Charge("sum", "sum(xs)", "item", 1, 0),
    Charge("min and max", "min(xs)", "item", 1 + 1 / 16, 48),
    Charge("sorted by a key", "sorted(xs, key=lambda x: -x)", "item", 4.8125, 96),
    Charge("sorted", "sorted(xs)", "item, at a few thousand of them", 1.8125, 96),
    Charge("a comprehension", "[x for x in xs]", "turn", 1, 48),
    Charge("map", "list(map(str, xs))", "turn, with the call of `str`", 2, 142),
    Charge("zip and enumerate", "list(zip(xs, ys))", "turn", 1, 184),
    Charge("str of a container", "str(xs)", "item", 2, 107),
    Charge("a copy of a dict", "dict(entries)", "entry", 1 / 8, 200),
    Charge("dict | dict", "entries | more", "entry of either", 1 / 8, 200),
    Charge("update of a dict", "entries.update(more)", "entry that joins", 1 / 4, 200),
    Charge("== of dicts", "entries == more", "entry", 1, 0),
    Charge("set(...)", "set(xs)", "item", 0.3125, 448),
    Charge("| & - ^ of sets", "some | many", "item of either", 1 / 8, 200),
    Charge("comparisons of sets", "some <= many", "item", 1 / 4, 0),
    Charge("text + text", "text + other", "character of the result", 1 / 128, 1.375),
    Charge("a slice of a text", "text[1:]", "character", 1 / 128, 1.375),
    Charge("== and < of texts", "text == other", "character", 1 / 128, 0),
    Charge("in, for a text in a text", "'c' in text", "character", 1 / 32, 0),
    Charge("find, index and count of a text", "text.find('c')", "character", 1 / 16, 0),
    Charge("upper, lower, title, capitalize", "text.upper()", "character", 1 / 32 + 1 / 128, 1.375),
    Charge("replace", "text.replace('a', 'b')", "character", 9 / 128, 1.375),
    Charge("split", "text.split('b')", "character, of which every second parts", 1 / 32 + 1 / 128, 53.375),
    Charge("strip", "text.strip('ab')", "character", 1 / 64, 1.375),
    Charge("isalpha and its like", "text.isalpha()", "character", 1 / 32, 0),
    Charge("join", "','.join(texts)", "text of seven characters", 1 / 8, 59),
    Charge("a field of an f-string", "f'{text}|'", "character", 3 / 256, 1.375),
    Charge("a text of 128 characters or more as a key", "{text: 1}", "character", 1 / 128, 0),
)
