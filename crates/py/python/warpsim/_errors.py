"""What can go wrong, with the text that the command line shows."""


class WarpsimError(Exception):
    """Any error of warpsim."""


class BadInput(WarpsimError, ValueError):
    """A machine, a kernel, an argument or a study that makes no sense (exit code 2)."""


class ProgramFailed(WarpsimError, RuntimeError):
    """The simulated program went wrong: out of bounds, deadlock, cycle limit (exit code 3)."""
