"""What plugin authors test with: real servers on loopback, clocks, contract suites."""

import pkgutil
import sys

if "pytest" in sys.modules:
    # pytest shows what was compared only in test files, and in modules that it is told of before they are imported.
    suites = [module.name for module in pkgutil.iter_modules(__path__) if module.name.startswith("store_")]
    sys.modules["pytest"].register_assert_rewrite(*(f"{__name__}.{suite}" for suite in suites))
