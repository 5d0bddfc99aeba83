"""What plugin authors test with: real servers on loopback, clocks, contract suites."""
