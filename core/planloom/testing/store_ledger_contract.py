"""What every store does with questions and answers; part of the contract of stores."""

from __future__ import annotations

import asyncio

import attrs

from planloom.money import Usage
from planloom.stores import Answered, Granted, OpenElsewhere, Store

from .store_samples import JOB, LONG_TEXT, a_question, a_reply, ask_for, books, grant, with_store

__all__ = ["LedgerContract"]


class LedgerContract:
    """What one open store does with questions and their answers."""

    @with_store
    async def test_an_unknown_question_has_no_answer(self, store: Store) -> None:
        assert store.reply(a_question().fingerprint) is None
        assert store.reply("no fingerprint at all") is None

    @with_store
    async def test_a_question_that_has_an_answer_is_never_said_to_lack_one(self, store: Store) -> None:
        for number in range(9):
            await store.settle(await grant(store, a_question(number)), a_reply())
        known = [a_question(number).fingerprint for number in range(9)]
        assert not any(store.lacks(fingerprint) for fingerprint in known)
        assert not store.lacks("no fingerprint at all")

    @with_store
    async def test_a_settled_reply_is_the_answer_word_for_word(self, store: Store) -> None:
        reply = a_reply(LONG_TEXT, finish_reason=None, estimated=True, usage=Usage(reasoning_tokens=7))
        version = await store.settle(await grant(store, a_question()), reply)
        assert store.reply(a_question().fingerprint) == attrs.evolve(reply, cached=True, version=version)

    @with_store
    async def test_a_reply_keeps_text_that_no_encoding_allows(self, store: Store) -> None:
        text = "half a pair \ud83d, a NUL \0, \r\n and é𝄞"
        await store.settle(await grant(store, a_question()), a_reply(text))
        stored = store.reply(a_question().fingerprint)
        assert stored is not None
        assert stored.text == text

    @with_store
    async def test_absurd_figures_of_a_server_do_not_lose_a_reply(self, store: Store) -> None:
        reply = a_reply(usage=Usage(prompt_tokens=10**30), model="m\ud800", finish_reason="\udfff")
        await store.settle(await grant(store, a_question()), reply)
        assert store.reply(a_question().fingerprint) is not None

    @with_store
    async def test_what_a_server_said_and_what_it_left_out_are_told_apart(self, store: Store) -> None:
        nothing, zero = Usage(), Usage(prompt_tokens=0, cached_prompt_tokens=0, completion_tokens=0, reasoning_tokens=0)
        said = [(None, nothing), ("", zero), ("0", attrs.evolve(zero, prompt_tokens=-1)), ("NULL", nothing)]
        for number, (finish_reason, usage) in enumerate(said):
            reply = a_reply("", finish_reason=finish_reason, usage=usage, estimated=bool(number % 2))
            version = await store.settle(await grant(store, a_question(number)), reply)
            assert store.reply(a_question(number).fingerprint) == attrs.evolve(reply, cached=True, version=version)

    @with_store
    async def test_a_reply_without_an_instant_gets_one(self, store: Store) -> None:
        await store.settle(await grant(store, a_question()), a_reply(created_at=None))
        stored = store.reply(a_question().fingerprint)
        assert stored is not None
        assert stored.created_at is not None
        assert stored.created_at.tzinfo is not None

    @with_store
    async def test_a_question_comes_back_as_it_was_asked(self, store: Store) -> None:
        question = a_question(7, LONG_TEXT)
        await grant(store, question)
        stored = store.question(question.fingerprint)
        assert stored is not None
        assert [m.text for m in stored.messages] == [m.text for m in question.messages]
        assert stored.fingerprint == question.fingerprint

    @with_store
    async def test_a_question_that_was_never_sent_is_not_kept(self, store: Store) -> None:
        await ask_for(store, a_question(), worst=101)
        assert store.question(a_question().fingerprint) is None

    @with_store
    async def test_asking_an_answered_question_gives_the_answer(self, store: Store) -> None:
        await store.settle(await grant(store, a_question()), a_reply("known"))
        result = await ask_for(store, a_question())
        assert isinstance(result, Answered)
        assert (result.reply.text, result.reply.cached) == ("known", True)
        assert store.books(JOB) == books(spent=4)

    @with_store
    async def test_asking_again_on_purpose_replaces_the_answer(self, store: Store) -> None:
        await store.settle(await grant(store, a_question()), a_reply("old"))
        await store.settle(await grant(store, a_question(), look=False), a_reply("new"))
        stored = store.reply(a_question().fingerprint)
        assert stored is not None
        assert stored.text == "new"
        assert store.books(JOB) == books(spent=8)

    @with_store
    async def test_a_question_in_flight_cannot_be_asked_again(self, store: Store) -> None:
        call = await grant(store, a_question())
        assert await ask_for(store, a_question()) == OpenElsewhere(call)
        assert await ask_for(store, a_question(), look=False) == OpenElsewhere(call)
        assert store.books(JOB) == books(reserved=10)

    @with_store
    async def test_of_many_who_ask_one_question_at_once_one_may(self, store: Store) -> None:
        results = await asyncio.gather(*(ask_for(store, a_question(), 1) for _ in range(20)))
        assert sum(isinstance(result, Granted) for result in results) == 1
        assert sum(isinstance(result, OpenElsewhere) for result in results) == 19

    @with_store
    async def test_a_released_question_may_be_asked_again(self, store: Store) -> None:
        await store.release(await grant(store, a_question()))
        await grant(store, a_question())

    @with_store
    async def test_a_question_of_unknown_outcome_may_be_asked_again(self, store: Store) -> None:
        await store.mark_uncertain(await grant(store, a_question()))
        await grant(store, a_question())
        assert store.books(JOB) == books(reserved=10, uncertain=10)

    @with_store
    async def test_a_late_reply_to_an_older_call_does_not_replace_the_answer(self, store: Store) -> None:
        late = await grant(store, a_question())
        await store.mark_uncertain(late)
        await store.settle(await grant(store, a_question()), a_reply("told to the run"))
        await store.settle(late, a_reply("late"))
        stored = store.reply(a_question().fingerprint)
        assert stored is not None
        assert stored.text == "told to the run"

    @with_store
    async def test_every_reply_to_a_question_can_be_had_by_its_version(self, store: Store) -> None:
        old = await store.settle(await grant(store, a_question()), a_reply("old"))
        new = await store.settle(await grant(store, a_question(), look=False), a_reply("new"))
        fingerprint = a_question().fingerprint
        replies = [store.reply(fingerprint, version) for version in (old, new, None)]
        assert [(reply.text, reply.version) for reply in replies if reply] == [("old", old), ("new", new), ("new", new)]

    @with_store
    async def test_a_version_belongs_to_its_question_alone(self, store: Store) -> None:
        version = await store.settle(await grant(store, a_question()), a_reply())
        await store.settle(await grant(store, a_question(2)), a_reply())
        assert store.reply(a_question(2).fingerprint, version) is None
        assert store.reply(a_question().fingerprint, version + 1000) is None

    @with_store
    async def test_many_replies_come_at_once_those_alone_that_are_there(self, store: Store) -> None:
        one, two = [await store.settle(await grant(store, a_question(n)), a_reply(f"answer {n}")) for n in (1, 2)]
        first, second, third = (a_question(n).fingerprint for n in (1, 2, 3))
        known = store.replies({first: one, second: two, third: 10_000})
        assert known == {first: store.reply(first, one), second: store.reply(second, two)}
        assert store.replies({first: two, "no fingerprint": one}) == {}
        assert store.replies({}) == {}

    @with_store
    async def test_who_is_given_an_answer_hears_its_version(self, store: Store) -> None:
        version = await store.settle(await grant(store, a_question()), a_reply())
        result = await ask_for(store, a_question())
        assert isinstance(result, Answered)
        assert result.reply.version == version
