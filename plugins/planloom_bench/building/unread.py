"""Files without an example that doctest runs, though they hold what looks like one: which of the many forms it is.

A library whose files say "has no examples" would leave its author wondering, with transcripts in every docstring.
"""

from __future__ import annotations

import re

from planloom_bench._prompts import OF_IPYTHON, OF_SPHINX

__all__ = ["NONE", "what_stands_for_examples"]

NONE = "has no examples"
_FORMS = (
    (re.compile(r"^[ \t]*>>>.*#\s*doctest:.*\+SKIP\b", re.MULTILINE), "skips all of its examples"),
    (re.compile(r"^[ \t]*[^#\s].*>>>|^[ \t]*>>>", re.MULTILINE), "has prompts, and none where doctest looks"),
    (re.compile(OF_IPYTHON), "has transcripts of IPython, which doctest does not read"),
    (re.compile(OF_SPHINX), "has test blocks of Sphinx, which doctest does not read"),
    (re.compile(r"#\s*>>>"), "has examples that are commented out"),
)


def what_stands_for_examples(text: str) -> str:
    """The reason to leave out a file whose text gives doctest nothing to run."""
    return next((reason for form, reason in _FORMS if form.search(text)), NONE)
