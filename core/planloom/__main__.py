"""``python -m planloom`` is ``planloom``."""

from planloom.cli import main

if __name__ == "__main__":
    main()
