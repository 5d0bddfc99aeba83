"""Models and code can write anything: no text may change a document's shape or make a file unreadable."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html.parser import HTMLParser

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from sarif_kit.validate import validation_errors  # type: ignore[import-untyped]  # it ships no types

from planloom.exporters import Exporter
from planloom_audit.exporters import findings_json, own_exporters, report_html, report_markdown, sarif
from planloom_audit.report import AuditReport
from planloom_data import schema

ReportOf = Callable[[Sequence[str]], AuditReport]

HOSTILE = [
    "</script><script>alert(1)</script>",
    "</style></pre></code></main><h1>Owned</h1>",
    '" onmouseover="alert(1)" x="',
    "<!-- --><![CDATA[ ]]><svg/onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "```\n# Owned\n```",
    "~~~~\n\n## Owned\n\n---\n",
    "a | b\n--- | ---\n1 | 2",
    "[x](javascript:alert(1)) ![y](http://example.org/z.png) <http://example.org>",
    "[ref]: http://example.org 'title'",
    "- item\n\n    code\n\n1. one",
    "Title\n=====",
    "``` a `` b ` c",
    "`odd",
    "&lt;b&gt; &amp;#35; \\` \\\\",
    "if level \u202e \u2066# user\u2069 \u2066== 'admin':",
    "\x00\x1b[31m\x7f\x85\u2028\ufeff",
    "half \ud83d a pair, bytes \udcff",
    "日本語 עברית 👩\u200d👩\u200d👧",
    "x" * 5_000,
    "",
    " ",
    "\r\n\r\n",
]
ANYTHING = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(max_size=40),
    st.text(alphabet="`~<>&|*_#[]()!\\-+=:.1 \n\r\t'\"{}%$@^\u202e", max_size=30),
)
SHAPE = jsonschema.Draft202012Validator(json.loads(schema("findings.schema")))
TEXTS = st.lists(ANYTHING, min_size=1, max_size=6)


class Page(HTMLParser):
    """What a browser would see: tags with their attributes, and text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def skeleton(self) -> list[str]:
        """The tags, without those that a text may bring along: code in prose and names of hidden characters."""
        return [tag for tag, _ in self.tags if tag not in ("code", "span", "p", "div", "dt", "dd")]


@pytest.fixture(scope="module")
def plain_skeleton(report_of: ReportOf) -> list[str]:
    return Page(report_html(report_of(["plain"]))).skeleton()


def headings(markdown: str) -> list[str]:
    return [token.tag for token in _tokens(markdown) if token.type == "heading_open"]


def _tokens(markdown: str) -> list[Token]:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    found: list[Token] = []
    for token in parser.parse(markdown):
        found += [token, *(token.children or ())]
    return found


@pytest.mark.parametrize("exporter", own_exporters(), ids=lambda exporter: exporter.name)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_every_file_can_be_written_as_utf_8(exporter: Exporter, text: str, report_of: ReportOf) -> None:
    assert exporter.export(report_of([text])).encode("utf-8")


@given(texts=TEXTS)
@settings(max_examples=25)
def test_any_text_leaves_findings_json_valid(texts: list[str], report_of: ReportOf) -> None:
    assert SHAPE.is_valid(json.loads(findings_json(report_of(texts))))


@given(texts=TEXTS)
@settings(max_examples=25)
def test_any_text_leaves_sarif_valid(texts: list[str], report_of: ReportOf) -> None:
    assert list(validation_errors(json.loads(sarif(report_of(texts))))) == []


@given(texts=TEXTS)
@settings(max_examples=30)
def test_any_text_leaves_the_headings_of_markdown_unchanged(texts: list[str], report_of: ReportOf) -> None:
    assert headings(report_markdown(report_of(texts))) == headings(report_markdown(report_of(["plain"])))


@given(texts=TEXTS)
@settings(max_examples=30)
def test_any_text_in_markdown_makes_no_link_image_or_html(texts: list[str], report_of: ReportOf) -> None:
    kinds = {token.type for token in _tokens(report_markdown(report_of(texts)))}
    assert not kinds & {"link_open", "image", "html_block", "html_inline", "code_block", "hr", "blockquote_open"}


@given(texts=TEXTS)
@settings(max_examples=30)
def test_any_text_leaves_the_elements_of_the_page_unchanged(
    texts: list[str], report_of: ReportOf, plain_skeleton: list[str]
) -> None:
    texts = [text if text.strip() else "blank" for text in texts]  # what is empty is left out on purpose
    assert Page(report_html(report_of(texts))).skeleton() == plain_skeleton


@given(texts=TEXTS)
@settings(max_examples=30)
def test_no_text_brings_an_address_or_a_handler_into_the_page(texts: list[str], report_of: ReportOf) -> None:
    attributes = [pair for _, attributes in Page(report_html(report_of(texts))).tags for pair in attributes.items()]
    assert not [name for name, _ in attributes if name.startswith("on") or name in ("src", "style", "action", "srcset")]
    assert all((value or "").startswith(("#", "data:,")) for name, value in attributes if name == "href")


def test_markup_in_a_claim_is_read_as_text(report_of: ReportOf) -> None:
    assert HOSTILE[0] in Page(report_html(report_of([HOSTILE[0]]))).text


@pytest.mark.parametrize("write", [report_html, report_markdown])
def test_characters_that_turn_text_around_are_named_to_people(
    write: Callable[[AuditReport], str], report_of: ReportOf
) -> None:
    page = write(report_of(["if user \u202e == admin"]))
    assert "\u202e" not in page
    assert "U+202E" in page


def test_programs_get_every_character_that_utf_8_can_hold(report_of: ReportOf) -> None:
    text = "turned \u202e around, nul \x00, 👩\u200d👧"
    assert json.loads(findings_json(report_of([text])))["findings"][0]["claim"] == text
