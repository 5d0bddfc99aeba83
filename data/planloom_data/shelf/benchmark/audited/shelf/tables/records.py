"""Tables as lists of mappings, one a row: grouping, joining, pivoting and ranking them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def group_by(rows: Iterable[Row], field: str) -> dict[Any, list[Row]]:
    """The rows by their value of a field, in the order in which the values first come up."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[field], []).append(row)
    return groups


def total_by(rows: Iterable[Row], field: str, amount: str) -> dict[Any, Any]:
    """The sum of the amounts for each value of a field."""
    totals: dict[Any, Any] = defaultdict(int)
    for row in rows:
        totals[row[field]] += row[amount]
    return dict(totals)


def join(left: Iterable[Row], right: Iterable[Row], on: str) -> list[Row]:
    """Every pair of rows that agree in a field, merged; where both hold a field, the left row's value stays."""
    partners = group_by(right, on)
    merged: list[Row] = []
    for row in left:
        merged.extend({**partner, **row} for partner in partners.get(row[on], []))
    return merged


def pivot(rows: Iterable[Row], across: str, down: str, cell: str) -> dict[Any, dict[Any, Any]]:
    """One mapping for each value of `down`, holding the cell for each value of `across`; a later row wins."""
    table: dict[Any, dict[Any, Any]] = {}
    for row in rows:
        table.setdefault(row[down], {})[row[across]] = row[cell]
    return table


def rank(rows: Sequence[Row], field: str) -> list[tuple[int, Row]]:
    """The rows from the highest value down, each with its place; equal values share a place.

    After a shared place the next one counts everybody before it, as in sports: 1, 2, 2, 4.
    """
    ordered = sorted(rows, key=lambda row: row[field], reverse=True)
    ranked: list[tuple[int, Row]] = []
    place = 0
    previous = None
    for position, row in enumerate(ordered, start=0):
        value = row[field]
        if previous is None or value != previous:
            place = position
        previous = value
        ranked.append((place, row))
    return ranked


def distinct(rows: Iterable[Row], key: Callable[[Row], Any]) -> list[Row]:
    """The first row for each key, in order."""
    seen = set()
    kept = []
    for row in rows:
        mark = key(row)
        if mark in seen:
            continue
        seen.add(mark)
        kept.append(row)
    return kept


def running_share(rows: Sequence[Row], amount: str) -> list[float]:
    """The share of the total that the rows up to each one hold, the last being 1.0."""
    total = sum(row[amount] for row in rows)
    so_far = 0
    shares = []
    for row in rows:
        so_far += row[amount]
        shares.append(so_far / total)
    return shares
