"""Schedulers in Python."""

from __future__ import annotations

from collections.abc import Sequence

from ._native import Place


class Scheduler:
    """Which warp issues next, decided by Python: a hundred times slower than in Rust, for trying an idea.

    The contract is that of ``IssuePolicy`` in Rust (see the page on schedulers). A scheduler is an order of the warps
    of each domain (a scheduler of the SM), ready or not. In every cycle the SM issues from the first of the warps that are ready in a
    domain, and calls :meth:`issued`. The order may change only in these hooks. When nothing can happen the SM
    skips cycles: it then calls :meth:`advance` once, and never skips beyond :meth:`next`.

    There is an instance per SM. Only what a class overrides is called. An exception ends the run and is raised there.

    >>> class Youngest(Scheduler):
    ...     def __init__(self, domains):
    ...         self.age = {}
    ...     def launched(self, place, age, block):
    ...         self.age[place.domain, place.index] = age
    ...     def before(self, domain, a, b):
    ...         return self.age[domain, a] > self.age[domain, b]
    """

    def __init__(self, domains: int) -> None:
        """For an SM with this many schedulers."""

    def launched(self, place: Place, age: int, block: int) -> None:
        """A warp has come. ``age`` grows with every launch on the SM."""

    def finished(self, place: Place) -> None:
        """A warp has finished and left; its block may still be there."""

    def issued(self, place: Place) -> None:
        """A warp has issued."""

    def before(self, domain: int, a: int, b: int) -> bool:
        """Whether warp ``a`` is looked at before warp ``b``."""
        return a < b

    def first(self, domain: int, among: Sequence[int]) -> int:
        """The warp that is looked at first among these, which are two or more.

        It follows from :meth:`before`; overriding it too, to the same effect, saves calls.
        """
        best = among[0]
        for warp in among[1:]:
            best = warp if self.before(domain, warp, best) else best
        return best

    def waits(self, place: Place, block: int, now: int) -> None:
        """A warp has come to a barrier in cycle ``now`` and waits there."""

    def released(self, block: int, warps: Sequence[Place]) -> None:
        """A barrier of ``block`` has opened: these warps, which waited there, go on."""

    def advance(self, domain: int, start: int, stop: int) -> None:
        """Cycles from ``start`` up to ``stop`` pass with nothing issued by ``domain``."""

    def next(self) -> int | None:
        """The next cycle in which the scheduler itself changes something, or None."""
        return None

    def tick(self, now: int) -> None:
        """Called in every cycle that is not skipped, before issue."""
