"""Tables of runs whose step time was measured: one function each."""

TABLES = {}
