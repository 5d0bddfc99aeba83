"""LangGraph: a node a question by ``Send``, its SQLite saver, and resumption with ``ainvoke(None)``."""

import asyncio
import operator
import time
from typing import Annotated, Any, TypedDict

import aiohttp  # noqa: F401 - imported before the clock starts, as everywhere
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from tests.bench.runtime._contestant import AT_ONCE, CALLS, FOLDER, Asker, delivered, finish


class Answers(TypedDict):
    """The graph's state."""

    answers: Annotated[list[str], operator.add]


async def main() -> None:
    """Fan out, or go on where the saver stopped."""
    began = time.perf_counter()
    asker, slots = Asker(), asyncio.Semaphore(AT_ONCE)

    async def ask(state: dict[str, int]) -> dict[str, list[str]]:
        # The graph's own `max_concurrency` holds back its checkpoints as well, so the slots are the node's.
        async with slots:
            text = await asker.ask(state["number"])
        delivered(state["number"])
        return {"answers": [text]}

    graph = StateGraph(Answers)
    graph.add_node("ask", ask)
    graph.add_conditional_edges(START, lambda _: [Send("ask", {"number": n}) for n in range(CALLS)], ["ask"])
    graph.add_edge("ask", END)
    config: Any = {"configurable": {"thread_id": "one"}}
    async with AsyncSqliteSaver.from_conn_string(str(FOLDER / "graph.db")) as saver:
        app = graph.compile(checkpointer=saver)
        before = await app.aget_state(config)
        out = await app.ainvoke(None if before.next else {"answers": []}, config, durability="async")
    await asker.close()
    finish(len(out["answers"]), began)


asyncio.run(main())
