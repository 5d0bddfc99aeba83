"""What can be wrong with a benchmark or a report.

Misuse
└── BenchError
    ├── BadBenchmark     a folder is no benchmark, or its key does not fit its files
    ├── BadFindings      a file or value holds no list of findings
    ├── BadSource        there is no such library, or it cannot be fetched or unpacked
    ├── DeafProofs       the examples pass whatever is done to the code
    ├── ExamplesLeft     a source text hides an example where it cannot be cut out
    ├── LeaksFound       what auditors would read gives bugs away
    └── TooFewBugs       a library does not hold as many bugs as were asked for
"""

from __future__ import annotations

from planloom import Misuse


class BenchError(Misuse):
    """A benchmark or a report cannot be used as it is."""


class BadBenchmark(BenchError):
    """The folder is no benchmark, or its key does not fit what auditors read."""


class BadFindings(BenchError):
    """There is no list of findings in what was given."""


class BadSource(BenchError):
    """There is no such library, or it cannot be fetched or unpacked."""


class DeafProofs(BenchError):
    """The examples pass whatever is done to the code: the proofs do not see what they should."""


class ExamplesLeft(BenchError):
    """An example stands where it cannot be cut out line by line."""


class LeaksFound(BenchError):
    """What auditors would read gives bugs away."""


class TooFewBugs(BenchError):
    """The library does not hold as many bugs as were asked for."""
