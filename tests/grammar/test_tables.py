"""The tables that ship are the grammar's, and our driver reads plans as lark does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput
from lark.lexer import Lexer, Token

from planlang import DEFAULT_RULES
from planlang._parse import parse
from planlang._tokenizer import tokenize
from planlang.build_tables import build, grammar

CASES = Path(__file__).parent / "cases"


class OurTokens(Lexer):
    """Hands lark the tokens of our tokenizer, under lark's names for them."""

    # Without it lark hands over the bare text alone.
    __future_interface__ = 1
    names: dict[str, str]

    def __init__(self, lexer_conf: Any) -> None:
        self.names = {term.pattern.value: term.name for term in lexer_conf.terminals if term.pattern}

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Token]:
        text = getattr(lexer_state.text, "text", lexer_state.text)
        for token in tokenize(text, DEFAULT_RULES).tokens:
            if token.type != "$END":
                yield Token(self.names.get(token.type, token.type), str(token.value), token.start, 1, 1)


@pytest.fixture(scope="module")
def lark() -> Lark:
    return grammar(OurTokens)


def sources() -> list[str]:
    found = [
        json.loads(line)["source"]
        for name in ("lead_plans.jsonl", "valid_programs.jsonl", "refused_programs.jsonl")
        for line in (CASES / name).read_text(encoding="utf-8").splitlines()
    ]
    return [source for source in found if tokenize(source, DEFAULT_RULES).whole]


def test_the_tables_that_ship_are_those_of_the_grammar() -> None:
    shipped = json.loads(files("planlang").joinpath("tables.json").read_text(encoding="utf-8"))
    assert shipped == json.loads(json.dumps(build())), "run python -m planlang.build_tables"


def test_our_driver_accepts_what_lark_accepts(lark: Lark) -> None:
    for source in sources():
        try:
            lark.parse(source)
            accepted = True
        except UnexpectedInput:
            accepted = False
        assert parse(source).whole is accepted, source


def test_checking_a_plan_imports_neither_attrs_nor_lark_nor_asyncio_nor_the_interpreter() -> None:
    program = (
        "import sys, planlang; planlang.check('result = 1', planlang.Vocabulary([])); "
        "late = ('attr', 'lark', 'asyncio', 'jsonschema'); "
        "print([m for m in sys.modules if m.split('.')[0] in late or '_interp' in m])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
