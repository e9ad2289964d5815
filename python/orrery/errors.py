"""Defines the errors: experiments that are wrong, and runs that fail."""

from typing import NamedTuple


class Diagnostic(NamedTuple):
    """One mistake in an input: where it is, what was found and what is allowed."""

    source: str  #: file name; "experiment" of a dict or a text; "override" of an override
    line: int  #: from 1; 0 where there is no text position
    column: int  #: from 1, in characters; 0 where there is no text position
    pointer: str  #: JSON pointer, such as /plan/tensor_parallel; "" of the whole
    message: str  #: what was found, what is allowed, and the nearest name

    def __str__(self):
        place = f"{self.source}:{self.line}:{self.column}" if self.line else self.source
        return ": ".join(part for part in (place, self.pointer, self.message) if part)


class ExperimentError(ValueError):
    """An experiment, an override or an argument is wrong.

    `diagnostics` has all mistakes that were found, `index` the place of the experiment in the iterable that
    `simulate_many` was given, else None.
    """

    def __init__(self, diagnostics, index=None):
        self.diagnostics = [Diagnostic(*diagnostic) for diagnostic in diagnostics]
        self.index = index
        super().__init__(self.diagnostics)

    def __str__(self):
        return "\n".join(map(str, self.diagnostics))

    def __reduce__(self):
        return type(self), (self.diagnostics, self.index)


class RunError(RuntimeError):
    """A run failed although its input is right: a file cannot be written, say."""
