"""A scheduler in twenty lines: the warp that waited longest at barriers goes first."""

import warpsim


class BarrierFirst(warpsim.Scheduler):
    def __init__(self, domains: int) -> None:
        self.waited: dict[tuple[int, int], int] = {}

    def launched(self, place: warpsim.Place, age: int, block: int) -> None:
        self.waited[place.domain, place.index] = 0

    def waits(self, place: warpsim.Place, block: int, now: int) -> None:
        self.waited[place.domain, place.index] += 1

    def before(self, domain: int, a: int, b: int) -> bool:
        # Fewest barriers behind it: whom its siblings will wait for.
        return (self.waited[domain, a], a) < (self.waited[domain, b], b)


for scheduler in ("lrr", "gto", BarrierFirst):
    result = warpsim.run("reduction", size="tiny", scheduler=scheduler)
    print(f"{result.scheduler:14}{result.cycles:8} cycles, {result.result}")
