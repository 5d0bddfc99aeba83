"""Small readers: settings, sums and delimited lines."""
