"""What the package offers is what it says it offers, and it needs nothing above it."""

import subprocess
import sys

import planloom_code


def test_every_name_of_all_exists_and_every_public_name_is_in_all() -> None:
    offered = {name: getattr(planloom_code, name) for name in planloom_code.__all__}
    public = {name for name in vars(planloom_code) if not name.startswith("_")} - {"TYPE_CHECKING", "Any"}
    assert public == set(offered)


def test_nothing_else_of_planloom_is_imported() -> None:
    script = "import sys, planloom_code; print([m for m in sys.modules if m.startswith(('planloom.', 'planlang'))])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
