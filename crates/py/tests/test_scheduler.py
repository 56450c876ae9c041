"""Schedulers in Python."""

from __future__ import annotations

import pytest
import warpsim


class Oldest(warpsim.Scheduler):
    """What `oldest` is in Rust."""

    def __init__(self, domains: int) -> None:
        self.age: list[dict[int, int]] = [{} for _ in range(domains)]

    def launched(self, place: warpsim.Place, age: int, block: int) -> None:
        self.age[place.domain][place.index] = age

    def before(self, domain: int, a: int, b: int) -> bool:
        return self.age[domain][a] < self.age[domain][b]


class OldestFirst(Oldest):
    """The same, choosing among all at once."""

    def first(self, domain: int, among: list[int]) -> int:  # type: ignore[override]
        return min(among, key=self.age[domain].__getitem__)


@pytest.mark.parametrize("workload", ["reduction", "bfs"])
def test_a_policy_in_python_does_what_it_does_in_rust(workload: str) -> None:
    rust = warpsim.run(workload, size="tiny", scheduler="oldest")
    for policy in (Oldest, OldestFirst):
        python = warpsim.run(workload, size="tiny", scheduler=policy)
        assert python.result == "correct" and python.scheduler == policy.__name__
        assert python.stats == rust.stats
    assert warpsim.run(workload, size="tiny", scheduler="lrr").stats != rust.stats


def test_hooks_are_called() -> None:
    heard: dict[str, int] = {}

    class Nosy(Oldest):
        def __getattribute__(self, name: str) -> object:
            heard[name] = heard.get(name, 0) + 1
            return super().__getattribute__(name)

        def finished(self, place: warpsim.Place) -> None:
            assert place.index in self.age[place.domain]

        def waits(self, place: warpsim.Place, block: int, now: int) -> None:
            assert now > 0

        def released(self, block: int, warps: list[warpsim.Place]) -> None:  # type: ignore[override]
            assert all(isinstance(place, warpsim.Place) for place in warps)

        def advance(self, domain: int, start: int, stop: int) -> None:
            assert start < stop

    warpsim.run("reduction", size="tiny", scheduler=Nosy)
    assert {"launched", "finished", "before", "waits", "released", "advance"} <= set(heard)
    assert "issued" not in heard, "what is not overridden is not called"


def test_an_exception_ends_the_run() -> None:
    class Broken(Oldest):
        def before(self, domain: int, a: int, b: int) -> bool:
            raise ZeroDivisionError("in the scheduler")

    class Unmade(warpsim.Scheduler):
        def __init__(self, domains: int) -> None:
            raise LookupError("no scheduler")

    class Liar(warpsim.Scheduler):
        def first(self, domain: int, among: list[int]) -> int:  # type: ignore[override]
            return 63

    with pytest.raises(ZeroDivisionError, match="in the scheduler"):
        warpsim.run("reduction", size="tiny", scheduler=Broken)
    with pytest.raises(LookupError, match="no scheduler"):
        warpsim.run("reduction", size="tiny", scheduler=Unmade)
    with pytest.raises(warpsim.BadInput, match="is to choose one of"):
        warpsim.run("reduction", size="tiny", scheduler=Liar)
    with pytest.raises(warpsim.BadInput, match="no subclass"):
        warpsim.run("reduction", size="tiny", scheduler=dict)  # type: ignore[arg-type]
