"""Numbers as strings of digits: other bases, Roman numerals, grouping and check digits."""

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
ROMAN = (
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
)


def to_base(number: int, base: int) -> str:
    """The number written in a base from 2 to 36, in small letters, with a minus sign when negative."""
    if not 2 <= base <= len(ALPHABET):
        raise ValueError(f"base must be from 2 to {len(ALPHABET)}, got {base}")
    rest = abs(number)
    digits = ""
    while rest:
        rest, digit = divmod(rest, base)
        digits = ALPHABET[digit] + digits
    sign = "-" if number < 0 else ""
    return sign + (digits or "0")


def from_base(text: str, base: int) -> int:
    """The number that the text writes in the base; capitals and underscores are allowed."""
    sign = -1 if text.startswith("-") else 1
    value = 0
    for char in text.lstrip("-").replace("_", "").lower():
        digit = ALPHABET.find(char)
        if digit == -1 or digit >= base:
            raise ValueError(f"{char!r} is not a digit in base {base}")
        value = value * base + digit
    return sign * value


def to_roman(number: int) -> str:
    """The number as a Roman numeral, for 1 to 3999."""
    if not 1 <= number <= 3999:
        raise ValueError(f"Roman numerals run from 1 to 3999, got {number}")
    numeral = ""
    for value, symbol in ROMAN:
        count, number = divmod(number, value)
        numeral += symbol * count
    return numeral


def from_roman(numeral: str) -> int:
    """The number that a Roman numeral stands for; a smaller letter before a larger one is taken away."""
    letters = {symbol: value for value, symbol in ROMAN if len(symbol) != 1}
    values = [letters[char] for char in numeral.upper()]
    total = 0
    for value, following in zip(values, [*values[1:], 0], strict=True):
        total += -value if value < following else value
    return total


def group_digits(number: int, *, size: int = 3, mark: str = ",") -> str:
    """The number with a mark between groups of digits, counted from the right."""
    digits = str(abs(number))
    head = len(digits) % size
    groups = [digits[:head]] if head else []
    groups += [digits[start : start + size] for start in range(head, len(digits), size)]
    return ("-" if number < 0 else "") + mark.join(groups)


def luhn_valid(code: str) -> bool:
    """Whether the last digit is the right check digit for the others (Luhn, ISO/IEC 7812); spaces are ignored."""
    total = 0
    for position, char in enumerate(reversed(code.replace(" ", ""))):
        digit = int(char)
        if position % 2 == 1:
            digit *= 2
            if digit > 9:
                digit -= 9
        total += digit
    return total % 10 == 0


def digit_sum(number: int) -> int:
    """The sum of the decimal digits."""
    return sum(int(char) for char in str(abs(number)))
