"""Days on which people work: Monday to Friday, holidays aside.

Every function takes its holidays as a collection of dates, so that no calendar is built in.
"""

from collections.abc import Collection, Iterator
from datetime import date, timedelta

ONE_DAY = timedelta(days=1)
SATURDAY = 5


def is_workday(day: date, holidays: Collection[date] = ()) -> bool:
    """Whether people work on the day.

    >>> is_workday(date(2024, 5, 3))
    True
    >>> is_workday(date(2024, 5, 4))
    False
    >>> is_workday(date(2024, 5, 1), holidays={date(2024, 5, 1)})
    False
    """
    return day.weekday() < SATURDAY and day not in holidays


def days_between(first: date, last: date) -> Iterator[date]:
    """Every day from `first` to `last`, both included.

    >>> [day.day for day in days_between(date(2024, 2, 28), date(2024, 3, 1))]
    [28, 29, 1]
    >>> list(days_between(date(2024, 3, 2), date(2024, 3, 1)))
    []
    """
    day = first
    while day <= last:
        yield day
        day += ONE_DAY


def count_workdays(first: date, last: date, holidays: Collection[date] = ()) -> int:
    """The number of workdays from `first` to `last`, both included.

    >>> count_workdays(date(2024, 5, 1), date(2024, 5, 7))
    5
    >>> count_workdays(date(2024, 5, 1), date(2024, 5, 7), holidays={date(2024, 5, 1)})
    4
    """
    return sum(is_workday(day, holidays) for day in days_between(first, last))


def add_workdays(start: date, count: int, holidays: Collection[date] = ()) -> date:
    """The day that lies `count` workdays after `start`, or before it when `count` is negative.

    The start itself is never counted; with a count of 0 it comes back as it is.

    >>> add_workdays(date(2024, 5, 3), 1)
    datetime.date(2024, 5, 6)
    >>> add_workdays(date(2024, 5, 6), -2)
    datetime.date(2024, 5, 2)
    >>> add_workdays(date(2024, 5, 4), 0)
    datetime.date(2024, 5, 4)
    """
    step = ONE_DAY if count > 0 else -ONE_DAY
    remaining = abs(count)
    day = start
    while remaining:
        day += step
        if is_workday(day, holidays):
            remaining -= 1
    return day


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """The nth given weekday of a month; Monday is 0, and a negative `nth` counts from the month's end.

    A ValueError says how many there are when the month has fewer than asked for.

    >>> nth_weekday(2024, 11, 3, 4)
    datetime.date(2024, 11, 28)
    >>> nth_weekday(2024, 5, 0, -1)
    datetime.date(2024, 5, 27)
    >>> nth_weekday(2024, 2, 0, 5)
    Traceback (most recent call last):
        ...
    ValueError: 2024-02 has only 4 such weekdays, asked for number 5
    """
    first = date(year, month, 1)
    next_month = date(year + month // 12, month % 12 + 1, 1)
    matching = [day for day in days_between(first, next_month - ONE_DAY) if day.weekday() == weekday]
    position = nth - 1 if nth > 0 else nth
    if nth == 0 or abs(nth) > len(matching):
        raise ValueError(f"{year}-{month:02} has only {len(matching)} such weekdays, asked for number {nth}")
    return matching[position]


def quarter(day: date) -> int:
    """The quarter of the year that holds the day, 1 to 4.

    >>> quarter(date(2024, 3, 31)), quarter(date(2024, 4, 1)), quarter(date(2024, 12, 31))
    (1, 2, 4)
    """
    return (day.month - 1) // 3 + 1
