"""What holds for all tests."""

from hypothesis import settings

# A busy machine is no fault of the code: how long something takes is for benchmarks to say.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
