"""Working days and lengths of time."""
