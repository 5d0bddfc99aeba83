"""Proving with doctests that an edit breaks a library, in a process that can do little harm.

What holds, and against what:

- A proof that hangs, crashes, exits or floods is ended with all it started, on every system.
- Python code is refused the network, other processes, input, and changes to files outside a folder of its own that is
  removed afterwards, on every system (an audit hook).
- Code beside Python (extension modules, ctypes) is refused other processes, programs and the network by a filter of
  system calls (Linux on x86_64 and aarch64), and writing outside the folder by Landlock (Linux 5.13 and later). Where
  one of them is missing, Landlock (TCP from 6.7, signals from 6.12) and a network of its own, which root or user
  namespaces allow, hold a part of what the other would. ``sandbox_lacks`` says what none of them holds here.
- Modes, owners and times of the user's files are held from Python code alone: no layer of the kernel's looks at them.
- Memory, file size, processor time and what is written in all are limited (macOS may not limit memory).
- Reading is not refused: a library can read what the user can. It sees none of the user's environment variables.

It keeps mistakes and carelessness in; it is no prison for code that is written to break out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planloom.late import late_names

if TYPE_CHECKING:
    from .inside.jobs import Job, Outcome
    from .naming import Naming, find_import_root, namings
    from .options import LENIENT, configured_options, flags_of
    from .prover import ForkingProver, FreshProver, Prover, open_prover, sandbox_lacks

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
    "sandbox_lacks",
]

__getattr__ = late_names(
    __name__,
    {
        "inside.jobs": ("Job", "Outcome"),
        "naming": ("Naming", "find_import_root", "namings"),
        "options": ("LENIENT", "configured_options", "flags_of"),
        "prover": ("ForkingProver", "FreshProver", "Prover", "open_prover", "sandbox_lacks"),
    },
)
