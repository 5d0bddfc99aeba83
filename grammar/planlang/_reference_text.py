"""The parts of the reference that no table holds: what may be written, and where values differ from Python's."""

from __future__ import annotations

from collections.abc import Sequence

from ._interp.meter import DICT_ENTRY_BYTES

__all__ = ["DIFFERENCES", "EXAMPLE", "INTRODUCTION", "RULES_OF_TASKS", "SYNTAX", "WHAT_STEPS_ARE", "what_copies_take"]

INTRODUCTION = """\
A plan is a short program. Every plan is valid Python 3.12 with the same meaning, and most of Python is left out.
It calls *words*, the functions that its host gives it, and builtins; it reaches nothing else.
It is checked as a whole before it runs: every problem has a place, a code, a reason and what to write instead.
It always ends: there is no `while` and no recursion, and steps, memory and calls are metered."""

EXAMPLE = """\
pieces = shards(tokens=100000)
phase("Scan")
reports = parallel([lambda s=s, l=l: scan(s, l) for s in pieces for l in LENSES])
found = dedupe(flatten(reports))
if budget() < 5:
    log(f"{len(found)} candidates, and too little left to check them")
    result = found
else:
    phase("Verify")
    asked = [lambda b=b, i=i: check(b, sample=i) for b in batches(found, 6) for i in range(3)]
    result = vote(found, flatten(parallel(asked)), need=2)
"""

SYNTAX = """\
### Statements

| statement | forms |
|---|---|
| assignment | `x = v`, `a = b = v`, `a, b = v`, `a, *rest = v`, `d[k] = v`, `xs[i:j] = v`, `x: hint = v` |
| augmented | `+= -= *= /= //= %= &= \\|= ^=` on one name or one item |
| `for` | `for target in items:` with an optional `else:`; `break`, `continue` |
| `if` | `if`, `elif`, `else` |
| `def` | defaults, keyword-only, `*args`, `**kwargs`, annotations; `return` stands only here |
| expression | a call for its effect, a docstring |
| `pass` | |

Type hints are read and ignored. Comments, blank lines, `;` between statements, `\\` at the end of a line
and line breaks inside brackets are as in Python.

### Expressions

| expression | forms |
|---|---|
| numbers | `12`, `1_000`, `0x1f`, `0o17`, `0b11`, `0.5`, `1e3` |
| texts | `'...'`, `"..."`, three quotes of either kind, `r"..."`, neighbours joined, escapes as in Python |
| f-strings | `f"{x}"`, `f"{x!r}"`, `f"{x:>8.2f}"`, `f"{x=}"`, nested specs, the same quotes inside; `{{` is a brace |
| constants | `True`, `False`, `None` |
| displays | `[a, *b]`, `(a, b)`, `{k: v, **d}`, `{a, b}` |
| comprehensions | of lists, sets and dicts, and generator expressions, with several `for` and `if` |
| calls | `f(a, *b, k=v, **d)`; methods are called at once: `xs.append(x)` |
| items | `xs[i]`, `xs[-1]`, `d["key"]`, `xs[a:b:step]` |
| arithmetic | `+ - * / // %`, unary `-` and `+`; `\\| & - ^` on sets, `\\|` on dicts; `&`, `\\|`, `^` on integers |
| comparisons | `== != < <= > >= in`, `not in`, `is`, `is not`, also chained |
| logic | `and`, `or`, `not`, `a if test else b` |
| functions | `lambda x, n=1: value` |"""

RULES_OF_TASKS = """\
- A word that waits, for a worker or for tasks, is simply called; there is no `await`.
- A worker that failed gives `None`, so test for it: `answer or []`, `if answer is None:`.
- `parallel(thunks)` takes one list of functions without parameters and gives their values in the order of the list,
  `None` for one that failed. `race(thunks)` takes the same list and gives the first value that is not `None`.
- What a function in a loop or comprehension reads of that loop must be bound by default, `lambda s=s: scan(s)`, or
  every task would see the last one. A function that is called within the same turn of the loop need not.
- `pipeline(items, stage, ...)` takes each item through all stages, at its own pace. A stage takes one to three
  parameters: the previous value, the item, its index; for the first stage the previous value is the item.
- A task changes nothing that it did not make: it returns its value, and the plan collects.
- The same question asked again has the same answer: give `sample=` other numbers to ask anew.
- `plan(name, key=value, ...)` runs a saved plan, which reads the values from `args`, and gives its `result`.
- The plan assigns `result` at module level, and that is what it gives back."""

DIFFERENCES = """\
What a plan may write means what it means in CPython 3.12, the kinds of errors included, but for these:

- Integers have 64 bits: a larger one ends the plan instead of growing.
- Sets keep the order in which items came, so that nothing depends on how texts are hashed.
- While a loop goes over a list, dict or set, adding to it and removing from it are errors. Replacing an item, or the
  value of a key that is there, is allowed.
- A value belongs to the task that made it; a change by another task is an error. What a finished task returns
  belongs to the task that started it.
- A generator expression may wait for workers where it stands directly in `any all sum min max list tuple set dict
  sorted join` or in a `for`; elsewhere a waiting one is refused, and so are waiting functions in `map`, `filter` and
  `key=`.
- Methods are no values: `str.lower` cannot be handed over, `lambda s: s.lower()` can. Builtins are, as in `key=len`
  and `map(str, xs)`.
- Words and functions cannot be part of `result`, which is plain data.
- Values have no attributes. There is no way to catch an error: it ends the task, which
  then gives `None`, or the plan."""

WHAT_STEPS_ARE = """\
A statement costs a step and another for each eight nodes of its expressions; a call of a plan's function, a turn of a
loop or of a comprehension costs its statements. A step stands for at most a microsecond of work. What else is charged
goes with what an operation goes through:"""


def what_copies_take(dicts_bytes: Sequence[int], box_bytes: int) -> str:
    """Return what is charged for dicts that cross between plan and host.

    :param dicts_bytes: what a copy takes, by its entries. :param box_bytes: what each of its numbers adds.
    """
    return f"""\
A dict of scalars that crosses between plan and host is charged as a copy, which has no room to grow: {dicts_bytes[1]}
bytes with up to 10 entries, {dicts_bytes[20]} with up to 20, {dicts_bytes[42]} with up to 42, {box_bytes} more for each
number, and its texts. With more than {len(dicts_bytes) - 1} entries it is charged as any other, and so is what a plan
changes: the first change adds {DICT_ENTRY_BYTES} bytes an entry. A text is charged where it comes in; keys are where
they are not those of the row before. A row that a word gives back unchanged in the same call brings no new texts."""
