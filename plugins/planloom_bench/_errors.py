"""What can be wrong with a benchmark or a report.

Misuse
└── BenchError
    ├── BadBenchmark     a folder is no benchmark, or its key does not fit its files
    ├── BadFindings      a file or value holds no list of findings
    └── ExamplesLeft     a source text hides an example where it cannot be cut out
"""

from __future__ import annotations

from planloom import Misuse


class BenchError(Misuse):
    """A benchmark or a report cannot be used as it is."""


class BadBenchmark(BenchError):
    """The folder is no benchmark, or its key does not fit what auditors read."""


class BadFindings(BenchError):
    """There is no list of findings in what was given."""


class ExamplesLeft(BenchError):
    """An example stands where it cannot be cut out line by line."""
