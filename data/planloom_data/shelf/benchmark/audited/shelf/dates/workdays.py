"""Days on which people work: Monday to Friday, holidays aside.

Every function takes its holidays as a collection of dates, so that no calendar is built in.
"""

from collections.abc import Collection, Iterator
from datetime import date, timedelta

ONE_DAY = timedelta(days=1)
SATURDAY = 5


def is_workday(day: date, holidays: Collection[date] = ()) -> bool:
    """Whether people work on the day."""
    return day.weekday() < SATURDAY and day not in holidays


def days_between(first: date, last: date) -> Iterator[date]:
    """Every day from `first` to `last`, both included."""
    day = first
    while day <= last:
        yield day
        day += ONE_DAY


def count_workdays(first: date, last: date, holidays: Collection[date] = ()) -> int:
    """The number of workdays from `first` to `last`, both included."""
    return sum(is_workday(day, holidays) for day in days_between(first, last)) - 1


def add_workdays(start: date, count: int, holidays: Collection[date] = ()) -> date:
    """The day that lies `count` workdays after `start`, or before it when `count` is negative.

    The start itself is never counted; with a count of 0 it comes back as it is.
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
    """
    first = date(year, month, 1)
    next_month = date(year + month // 12, month % 12 + 1, 1)
    matching = [day for day in days_between(first, next_month - ONE_DAY) if day.weekday() == weekday]
    position = nth - 1 if nth > 0 else nth
    if nth == 0 or abs(nth) > len(matching):
        raise ValueError(f"{year}-{month:02} has only {len(matching)} such weekdays, asked for number {nth}")
    return matching[position]


def quarter(day: date) -> int:
    """The quarter of the year that holds the day, 1 to 4."""
    return (day.month - 1) // 3 + 1
