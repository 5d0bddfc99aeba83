"""Proving with doctests that an edit breaks a library, in a process that can do no harm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planloom.late import late_names

if TYPE_CHECKING:
    from .inside.jobs import Job, Outcome
    from .naming import Naming, find_import_root, namings
    from .options import LENIENT, configured_options, flags_of
    from .prover import ForkingProver, FreshProver, Prover, open_prover

__all__ = [
    "LENIENT",
    "ForkingProver",
    "FreshProver",
    "Job",
    "Naming",
    "Outcome",
    "Prover",
    "configured_options",
    "find_import_root",
    "flags_of",
    "namings",
    "open_prover",
]

__getattr__ = late_names(
    __name__,
    {
        "inside.jobs": ("Job", "Outcome"),
        "naming": ("Naming", "find_import_root", "namings"),
        "options": ("LENIENT", "configured_options", "flags_of"),
        "prover": ("ForkingProver", "FreshProver", "Prover", "open_prover"),
    },
)
