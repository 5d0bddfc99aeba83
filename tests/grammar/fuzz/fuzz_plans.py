"""Coverage-guided fuzzing of ``check`` and of ``compile`` and ``run``: ``make fuzz``.

Every text must be answered, and every program that passes must end as promised (see ``conftest``). The corpus starts
with all plans the tests have. A crash is written to ``build/fuzz``; it becomes a file in ``tests/plans/found``, named
for its cause, which the tests run for ever.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

atheris: Any = import_module("atheris")

with atheris.instrument_imports(include=["planlang"]):
    import planlang._interp.run
    import planlang._program  # noqa: F401 - instrumented here, used by the host

# After what is instrumented, which it imports as well.
from tests.grammar.fuzz.conftest import check_promises, vocabulary  # noqa: E402

TESTS = Path(__file__).parents[2]
WORK = TESTS.parent / "build" / "fuzz"
KEYWORDS = (
    "for in if elif else break continue pass def return lambda and or not is None True False range len sorted zip map "
    "filter enumerate sum min max any all list dict set tuple str int float scan shards parallel pipeline same fail "
    "LENSES args HANDLE result append extend pop insert sort items keys values get update add join split replace"
)
OPERATORS = "+= -= *= //= %= |= == != <= >= ** // : , . ( ) [ ] { } = + - * / % < > | & ^ ' \" f' r' # \\ *a **k"
NUMBERS = "0 1 2 3 -1 7 64 1000 1000000 0.5 1e308 -0.0"
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\n[ ]*|[^\w\s]|[ ]+")
HOST_WORDS = vocabulary()
SNIPPETS = (
    "\nfor i in range(3):\n    ",
    "\nresult = ",
    "[x for x in ",
    "(x for x in ",
    "(lambda *a, k=1, **m: [a, k, m])(",
    "parallel([lambda n=n: scan(n) for n in range(3)])",
    "pipeline([1, 2], lambda v: scan(v), lambda v: [v])",
    "sorted(args['names'], key=lambda v: v)",
    "f'{args!r:>{9}}'",
    " if same(1) else ",
    " and ",
    " in ",
)


def seeds() -> list[str]:
    """Return the source of every plan that the tests hold."""
    found = []
    for path in sorted((TESTS / "grammar" / "cases").glob("*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [json.loads(line).get("source", "") for line in lines]
    for path in sorted((TESTS / "grammar").rglob("*.plans")):
        found += re.split(r"^=== .*\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for path in sorted((TESTS / "plans").rglob("*.plan")):
        found += re.split(r"^---\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [source for source in found if source]


def prepare() -> list[str]:
    """Write corpus and dictionary; return the arguments that name them."""
    corpus = WORK / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, source in enumerate(seeds()):
        (corpus / f"seed-{number:04}").write_bytes(source.encode("utf-8", "surrogatepass"))
    entries = [*KEYWORDS.split(), *OPERATORS.split(), "\n    ", "\n"]
    quoted = ["".join(f"\\x{byte:02x}" for byte in entry.encode()) for entry in entries]
    (WORK / "words.dict").write_text("".join(f'"{entry}"\n' for entry in quoted), encoding="utf-8")
    return [str(corpus), f"-dict={WORK / 'words.dict'}", f"-artifact_prefix={WORK}/", "-max_len=4000", "-timeout=20"]


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Return a neighbour of a plan: bytes changed by libFuzzer, or tokens exchanged for others of their kind.

    Nearly all changes of bytes are refused by the parser; changes of tokens reach the interpreter.
    """
    random = Random(seed)
    if random.random() < 0.3:
        return bytes(atheris.Mutate(data, max_size))
    tokens: list[str] = TOKEN.findall(data.decode("utf-8", "surrogateescape")) or ["result = 1"]
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(tokens))
        tokens[at : at + random.choice((0, 1, 1, 1, 2))] = [_exchange(random, tokens, tokens[at])]
    return "".join(tokens).encode("utf-8", "surrogateescape")[:max_size]


def _exchange(random: Random, tokens: list[str], token: str) -> str:
    if token.isidentifier():
        return random.choice([*KEYWORDS.split(), *filter(str.isidentifier, tokens)])
    if token[0].isdigit():
        return random.choice(NUMBERS.split())
    if token.isspace():
        return random.choice((token, token + "    ", " ", "\n", *random.choices(SNIPPETS, k=2)))
    return random.choice(OPERATORS.split())


def one_input(data: bytes) -> None:
    """Hold one text against all promises."""
    check_promises(data.decode("utf-8", "surrogateescape"), HOST_WORDS)


if __name__ == "__main__":
    atheris.Setup([sys.argv[0], *prepare(), *sys.argv[1:]], one_input, custom_mutator=mutate)
    atheris.Fuzz()
