"""``planloom``, and ``python -m planloom``, which is the same."""

from __future__ import annotations

import signal

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its code."""
    # Ctrl-C while the command line is imported finds nothing to cancel: it ends the process, without a traceback.
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from planloom.cli import main as run

    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
