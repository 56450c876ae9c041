"""Showing how far something is: a line that is written over in terminals, a bar in notebooks."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

Callback = Callable[[str, int, int, int, int], None]

#: A run that is over sooner shows nothing.
_PATIENCE = 1.0


class Display(Protocol):
    """Something that shows a share and a text, and goes away."""

    def show(self, share: float, text: str) -> None: ...
    def clear(self) -> None: ...


class _Line:
    def __init__(self) -> None:
        self._length = 0

    def show(self, share: float, text: str) -> None:
        done = int(24 * share)
        line = f"[{'=' * done}{' ' * (24 - done)}] {text}"
        sys.stderr.write("\r" + line.ljust(self._length))
        sys.stderr.flush()
        self._length = len(line)

    def clear(self) -> None:
        if self._length:
            sys.stderr.write("\r" + " " * self._length + "\r")
            sys.stderr.flush()


class _Bar:
    """A bar in a notebook, which takes the cell's place for it once."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, share: float, text: str) -> None:
        from IPython.display import HTML, display

        shown = HTML(f'<progress max="1" value="{share:.4f}"></progress> <code>{html.escape(text)}</code>')
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def clear(self) -> None:
        if self._handle is not None:
            from IPython.display import HTML

            self._handle.update(HTML(""))


def display() -> Display | None:
    """What suits where Python runs: a bar, a line, or nothing in a pipe."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if type(shell).__name__ == "ZMQInteractiveShell":
        return _Bar()
    return _Line() if sys.stderr.isatty() else None


class RunProgress:
    """Progress of a run, for the native side to call."""

    def __init__(self, wanted: bool | Callback | None) -> None:
        self._callback = wanted if callable(wanted) else None
        self._display = None if wanted is False or callable(wanted) else display()
        self._start = time.monotonic()
        self._shown = 0.0

    @property
    def callback(self) -> Callback | None:
        """What to call, if anybody listens."""
        return self._callback or (self._show if self._display is not None else None)

    def _show(self, kernel: str, done: int, blocks: int, cycles: int, instructions: int) -> None:
        now = time.monotonic()
        if self._display is None or now - self._start < _PATIENCE or now - self._shown < 0.2:
            return
        self._shown = now
        rate = instructions / (now - self._start)
        text = f"{kernel[-24:]} {done}/{blocks} blocks, {cycles:,} cycles, {rate:,.0f} warp instr/s"
        self._display.show(done / max(blocks, 1), text)

    def finish(self) -> None:
        """Nothing is shown any more."""
        if self._display is not None:
            self._display.clear()


class StudyProgress:
    """Progress of a study: runs that are done."""

    def __init__(self, wanted: bool | None, total: int) -> None:
        self._display = None if wanted is False else display()
        self._total = total
        self._done = 0

    def done(self, name: str) -> None:
        """A run has ended."""
        self._done += 1
        if self._display is not None:
            self._display.show(self._done / max(self._total, 1), f"{self._done}/{self._total} runs  {name}")

    def finish(self) -> None:
        """Nothing is shown any more."""
        if self._display is not None:
            self._display.clear()
