"""The benchmark: pozor beside its peers. `pozor bench` runs it; a speed is never asserted in a test."""
