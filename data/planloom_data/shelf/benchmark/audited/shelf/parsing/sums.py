"""A pocket calculator: numbers, + - * / ^, signs and brackets, read by recursive descent.

sum     = product (("+" | "-") product)*
product = signed (("*" | "/") signed)*
signed  = "-" signed | power
power   = atom ("^" signed)?
atom    = number | "(" sum ")"
"""

import re

TOKEN = re.compile(r"\s*(\d+\.?\d*|[-+*/^()])")


def tokens(text: str) -> list[str]:
    """The numbers and signs of a sum."""
    found = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        token = TOKEN.match(text, position)
        if token is None:
            raise ValueError(f"cannot read {text[position:].strip()!r}")
        found.append(token[1])
        position = token.end()
    return found


def calculate(text: str) -> float:
    """The value of a sum, with the usual precedence.

    Subtraction and division go from left to right, powers from right to left, and a sign in front binds less
    than a power.
    """
    reader = _Reader(tokens(text))
    value = reader.sum()
    if reader.peek():
        raise ValueError(f"expected the end, got {reader.peek()!r}")
    return value


class _Reader:
    def __init__(self, found: list[str]) -> None:
        self._tokens = found
        self._place = 0

    def peek(self) -> str:
        """The token that comes next, empty at the end."""
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def take(self) -> str:
        """The token that comes next, and step over it."""
        token = self.peek()
        self._place += 1
        return token

    def sum(self) -> float:
        """The value of products that are added and subtracted."""
        value = self.product()
        while self.peek() in ("+", "-"):
            if self.take() == "+":
                value += self.product()
            else:
                value -= self.product()
        return value

    def product(self) -> float:
        """The value of factors that are multiplied and divided."""
        value = self.signed()
        while self.peek() in ("*", "/"):
            if self.take() == "*":
                value *= self.signed()
            else:
                value /= self.signed()
        return value

    def signed(self) -> float:
        """The value of a power with any number of minus signs in front."""
        if self.peek() == "-":
            self.take()
            return -self.signed()
        return self.power()

    def power(self) -> float:
        """The value of an atom, raised to a power if one follows."""
        base = self.atom()
        if self.peek() == "^":
            self.take()
            return float(base ** self.signed())
        return base

    def atom(self) -> float:
        """The value of a number or of a sum in brackets."""
        piece = self.take()
        if piece == "(":
            value = self.sum()
            closing = self.take()
            if closing != ")":
                raise ValueError(f"expected ')', got {closing or 'the end'}")
            return value
        if not piece[:1].isdigit():
            raise ValueError(f"expected a number, got {piece or 'the end'}")
        return float(piece)
