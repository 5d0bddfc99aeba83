"""The file formats of an audit's report: JSON for programs, SARIF for code hosts, Markdown and HTML for people.

Every format is a pure function from :class:`~planloom_audit.report.AuditReport` to text. What they say in words (on
what basis, what is missing, what it cost) is worded once, in ``_sentences``; what models and code wrote passes
``_foreign`` first, since it can hold anything. What only one format needs is imported when that format is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planloom.exporters import Exporter

if TYPE_CHECKING:
    from planloom_audit.report import AuditReport

__all__ = ["findings_json", "own_exporters", "report_html", "report_markdown", "sarif"]

_KIT = "audit"


def own_exporters() -> tuple[Exporter, ...]:
    """Return the formats that ship with the kit, in the order in which people list them."""
    return (
        Exporter(name="audit-json", kit=_KIT, file_name="findings.json", export=findings_json),
        Exporter(name="audit-sarif", kit=_KIT, file_name="findings.sarif", export=sarif),
        Exporter(name="audit-markdown", kit=_KIT, file_name="report.md", export=report_markdown),
        Exporter(name="audit-html", kit=_KIT, file_name="report.html", export=report_html),
    )


def findings_json(report: AuditReport) -> str:
    """Return the whole report as JSON that fits the schema ``findings.schema`` of ``planloom_data``."""
    from ._json import document_text

    return document_text(report)


def sarif(report: AuditReport) -> str:
    """Return the report as one SARIF 2.1.0 run that GitHub code scanning takes."""
    from ._sarif import log_text

    return log_text(report)


def report_markdown(report: AuditReport) -> str:
    """Return the report as Markdown for a maintainer, in CommonMark with GitHub's tables."""
    from ._markdown import page

    return page(report)


def report_html(report: AuditReport) -> str:
    """Return the report as one HTML page that needs no other file and makes no request."""
    from ._html import page

    return page(report)
