"""Other ways to run small programs inside a Python process, each behind the same two questions.

A peer is measured when its package can be imported. ``loop`` is arithmetic and ``append``, ``calls`` is one call of a
host's function in every round; slow peers run fewer rounds, and those that know expressions only run the nearest
expression.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import attrs

__all__ = ["CALLS", "LOOP", "PEERS", "Peer", "host"]

LOOP = """\
def work(n):
    out = []
    acc = 0
    for i in range(n):
        acc = (acc * 3 + i) % 999983
        out.append(acc)
    return len(out) + acc
"""
CALLS = """\
def work(n):
    total = 0
    for i in range(n):
        total = total + host(i)
    return total
"""
PROGRAMS = {"loop": LOOP, "calls": CALLS}
EXPRESSIONS = {"loop": "[(x * 3 + x) % 999983 for x in xs]", "calls": "[host(x) for x in xs]"}
CHUNK = 5_000  # simpleeval refuses comprehensions over more than 10,000 items


def host(i: Any) -> int:
    """Return what the measured calls ask for."""
    return int(i) & 7


@attrs.frozen
class Peer:
    """One way to run programs.

    :ivar run: ``run(task, rounds)`` does the task once. :ivar rounds: how many rounds it is given.
    :ivar clock: process time, or the wall's where the work is done in another process.
    """

    name: str
    package: str
    run: Callable[[str, int], object]
    note: str = attrs.field(kw_only=True)
    rounds: int = attrs.field(default=100_000, kw_only=True)
    clock: Callable[[], float] = attrs.field(default=time.process_time, kw_only=True)

    @property
    def present(self) -> bool:
        """Whether it can be imported here."""
        return find_spec(self.package) is not None


def _restricted(task: str, rounds: int) -> object:
    package = import_module("RestrictedPython")
    guards = import_module("RestrictedPython.Guards")
    names = {**package.safe_globals, "_getattr_": guards.safer_getattr, "_getiter_": iter, "range": range}
    names.update(len=len, host=host)
    exec(package.compile_restricted(PROGRAMS[task], "plan", "exec"), names)
    return names["work"](rounds)


def _starlark(task: str, rounds: int) -> object:
    starlark = import_module("starlark")
    module = starlark.Module()
    module.add_callable("host", host)
    parsed = starlark.parse("plan", f"{PROGRAMS[task]}\nwork({rounds})\n", starlark.Dialect.extended())
    return starlark.eval(module, parsed, starlark.Globals.standard())


@cache
def _monty_pool() -> Any:
    pool = import_module("pydantic_monty").Monty().__enter__()
    atexit.register(pool.__exit__, None, None, None)
    return pool


def _monty(task: str, rounds: int) -> object:
    limits = {"max_feed_duration_secs": 120, "max_memory": 1 << 30, "max_suspensions": 10_000_000}
    source = f"{PROGRAMS[task]}\nwork({rounds})\n"
    with _monty_pool().checkout(limits=limits) as session:
        if task == "loop":
            return session.feed_run(source)
        return session.feed_run(source, external_lookup={"host": host})


def _smolagents(task: str, rounds: int) -> object:
    executor = import_module("smolagents.local_python_executor").LocalPythonExecutor(
        [], additional_functions={"host": host}
    )
    executor.send_tools({})
    return executor(f"{PROGRAMS[task]}\nwork({rounds})\n").output


def _asteval(task: str, rounds: int) -> object:
    interpreter = import_module("asteval").Interpreter(use_numpy=False, user_symbols={"host": host})
    value = interpreter(f"{PROGRAMS[task]}\nwork({rounds})\n", show_errors=False)
    if interpreter.error:
        raise RuntimeError(str(interpreter.error[0].get_error()))
    return value


def _simpleeval(task: str, rounds: int) -> object:
    package = import_module("simpleeval")
    names = {"xs": list(range(CHUNK))}
    for _ in range(rounds // CHUNK):
        package.EvalWithCompoundTypes(functions={"host": host}, names=names).eval(EXPRESSIONS[task])
    return None


def _cel(task: str, rounds: int) -> object:
    celpy = import_module("celpy")
    types = import_module("celpy.celtypes")
    environment = celpy.Environment()
    body = "(x * 3 + x) % 999983" if task == "loop" else "host(x)"
    functions = {"host": lambda i: types.IntType(host(i))}
    program = environment.program(environment.compile(f"xs.map(x, {body})"), functions=functions)
    names = {"xs": celpy.json_to_cel(list(range(CHUNK)))}
    for _ in range(max(1, rounds // CHUNK)):
        program.evaluate(names)
    return None


PEERS = (
    Peer("RestrictedPython", "RestrictedPython", _restricted, note="rewrites, then CPython runs it; meters nothing"),
    Peer("starlark-pyo3", "starlark", _starlark, note="starlark-rust in the process; no fuel"),
    Peer(
        "pydantic-monty",
        "pydantic_monty",
        _monty,
        note="bytecode in a process of its own, limits on time and memory; wall time",
        rounds=20_000,
        clock=time.perf_counter,
    ),
    Peer("smolagents", "smolagents", _smolagents, note="walks the tree; 10 million operations at most", rounds=20_000),
    Peer("asteval", "asteval", _asteval, note="walks the tree; no fuel", rounds=20_000),
    Peer("simpleeval", "simpleeval", _simpleeval, note="expressions only: a comprehension", rounds=20_000),
    Peer("cel-python", "celpy", _cel, note="expressions only: `map` over a list", rounds=5_000),
)
