"""Values that a person or a program gives a run: whether they can be used, said by the name they were given under.

They are looked at before anything is asked or paid. What is wrong with them is the caller's fault, and told as such.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from ._errors import Misuse
from .money import micro_of
from .questions import canonical_json
from .visible import visible

__all__ = ["check_kept", "given_args", "given_at_cap", "given_count", "given_credits"]


def check_kept(name: str, value: Any, advice: str) -> None:
    """Refuse an argument of a plan that cannot be kept with its run.

    :raises Misuse: naming it, with the advice at the end.
    """
    try:
        canonical_json({name: value})
    except (Misuse, RecursionError) as error:
        reason = error.__cause__ or error
        raise Misuse(
            f"the argument `{visible(name)}` has no form that can be kept with a run ({reason}); {advice}"
        ) from error


def given_args(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan's arguments as they come back from the store, where tuples are lists.

    :raises Misuse: they are no mapping from text, or hold what is no JSON.
    """
    if not isinstance(args, Mapping) or not all(isinstance(name, str) for name in args):
        raise Misuse(f"`args` must map the names of a plan's arguments to their values, got {args!r:.80}")
    for name, value in args.items():
        check_kept(name, value, "give text, numbers, booleans, None, and lists and dictionaries of them")
    return dict(json.loads(json.dumps(dict(args))))


def given_credits(name: str, credit_amount: float) -> int:
    """Return a number of credits in micro-credits.

    :raises Misuse: it is no finite number of at least 0.
    """
    if isinstance(credit_amount, int | float) and not isinstance(credit_amount, bool):
        try:
            return micro_of(credit_amount)
        except ValueError:
            pass  # told below
    raise Misuse(f"`{name}` must be a finite number of credits of at least 0, got {credit_amount!r:.80}")


def given_count(name: str, count: int) -> int:
    """Return a whole number of at least 1.

    :raises Misuse: it is none.
    """
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise Misuse(f"`{name}` must be a whole number of at least 1, got {count!r:.80}")
    return count


def given_at_cap(at_cap: str) -> None:
    """Refuse what no run does at its cap.

    :raises Misuse: naming what it may do.
    """
    from ._budget_line import OnCap  # with much that who only looks at runs does not need

    choices = get_args(OnCap)
    if at_cap not in choices:
        raise Misuse(f"`at_cap` must be one of {', '.join(choices)}, got {at_cap!r:.80}")
