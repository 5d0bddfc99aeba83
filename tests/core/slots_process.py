"""A process beside the test's own that wants slots: ``slots_process.py FOLDER ADDRESS LIMIT WANTED``.

Prints how many of the wanted slots it took, then holds them until its input ends or it is killed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from planloom._machine_slots import MachineSlots, SlotFile, open_slot_file


def main(folder: str, address: str, limit: int, wanted: int) -> None:
    file = open_slot_file(Path(folder))
    assert isinstance(file, SlotFile), file
    slots = MachineSlots(file, address, limit)
    print(sum(slots.take(0.0) for _ in range(wanted)), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
