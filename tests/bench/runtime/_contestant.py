"""What every contestant shares: the task from the environment, one HTTP call, a note of what is in hand, one result.

The task is always the same: ``CALLS`` different questions, ``AT_ONCE`` at a time, each answer kept on the disk, and
not asked again when the program is started a second time in the same folder. A contestant notes a question when its
answer is *delivered*: handed to the code that wanted it. Seconds count from after the imports.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

URL = os.environ["BENCH_URL"]
CALLS = int(os.environ["BENCH_CALLS"])
AT_ONCE = int(os.environ["BENCH_AT_ONCE"])
FOLDER = Path(os.environ["BENCH_FOLDER"])

_delivered = os.open(FOLDER / "delivered.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def question(number: int) -> str:
    """Return the text of a question."""
    return f"question {number}"


def delivered(number: int) -> None:
    """Note that the answer to a question is in the hands of who asked."""
    os.write(_delivered, f"{question(number)}\n".encode())


def request(number: int) -> dict[str, Any]:
    """Return the body of a request."""
    content = {"role": "user", "content": question(number)}
    return {"model": "m-1", "max_tokens": 16, "messages": [content]}


class Asker:
    """Asks over plain aiohttp; the connections are as many as questions at once."""

    def __init__(self) -> None:
        import aiohttp

        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=AT_ONCE))

    async def ask(self, number: int) -> str:
        """Ask a question and return the answer's text."""
        async with self._session.post(f"{URL}/chat/completions", json=request(number)) as answer:
            answer.raise_for_status()
            body = await answer.json()
        return str(body["choices"][0]["message"]["content"])

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()


def answers_table() -> sqlite3.Connection:
    """Return the smallest durable store: a row an answer, a commit each."""
    table = sqlite3.connect(FOLDER / "answers.db", check_same_thread=False, isolation_level=None)
    table.execute("PRAGMA journal_mode = WAL")
    table.execute("PRAGMA synchronous = NORMAL")
    table.execute("CREATE TABLE IF NOT EXISTS answer (number INTEGER PRIMARY KEY, text TEXT)")
    return table


def finish(answers: int, began: float) -> None:
    """Report how many answers there are and how long it took."""
    print(json.dumps({"answers": answers, "wall_s": time.perf_counter() - began}), flush=True)
