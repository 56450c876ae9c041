"""Machines: presets, files, texts and dictionaries, with settings changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from . import _native

Setting = bool | int | float | str


class Machine:
    """A machine to simulate.

    >>> Machine("gtx480", scheduler="gto", set={"sm.schedulers": 1})

    ``base`` is a preset's name (``warpsim.names("machines")``) or the path of a machine file. Settings have the names
    that ``warpsim list settings`` shows. Everything is checked at once: what makes no sense raises
    :class:`BadInput`, with the text of the command line.
    """

    def __init__(
        self,
        base: str | PathLike[str] = "gtx480",
        *,
        scheduler: str | None = None,
        fetch: str | None = None,
        divergence: str | None = None,
        warps: str | None = None,
        power: str | None = None,
        virtualize: str | None = None,
        set: Mapping[str, Setting] | None = None,
    ) -> None:
        overrides = _overrides(
            set or {},
            scheduler=scheduler,
            fetch=fetch,
            divergence=divergence,
            warps=warps,
            power=power,
            virtualize=virtualize,
        )
        self._make(fspath(base), None, overrides)

    def _make(self, base: str, text: str | None, overrides: list[str]) -> None:
        self._base = base
        self._text = text
        self._overrides = overrides
        if text is None:
            self._native = _native.Machine.resolve(base, overrides)
        else:
            self._native = _native.Machine.from_toml(base, text, overrides)

    @classmethod
    def from_toml(cls, text: str, name: str = "machine") -> Machine:
        """A machine from the text of a machine file, which may extend a preset.

        ``name`` is what messages call the text.
        """
        machine = cls.__new__(cls)
        machine._make(name, text, [])
        return machine

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Machine:
        """A machine from a machine file."""
        text = fspath(path)
        return cls(text if text.endswith(".toml") or "/" in text else "./" + text)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], name: str = "machine") -> Machine:
        """A machine from what :meth:`to_dict` returns, or from ``{"extends": "gtx480", "sm": {"schedulers": 1}}``."""
        given = {"schema": 1, **values}
        return cls.from_toml(_native.Machine.toml_of(json.dumps(given)), name)

    def replace(
        self,
        *,
        scheduler: str | None = None,
        fetch: str | None = None,
        divergence: str | None = None,
        warps: str | None = None,
        power: str | None = None,
        virtualize: str | None = None,
        set: Mapping[str, Setting] | None = None,
    ) -> Machine:
        """The same machine with other policies or settings."""
        overrides = _overrides(
            set or {},
            scheduler=scheduler,
            fetch=fetch,
            divergence=divergence,
            warps=warps,
            power=power,
            virtualize=virtualize,
        )
        machine = Machine.__new__(Machine)
        machine._make(self._base, self._text, self._overrides + overrides)
        return machine

    @property
    def name(self) -> str:
        """Its name."""
        return self._native.name

    def to_dict(self) -> dict[str, Any]:
        """Every setting, resolved."""
        values: dict[str, Any] = json.loads(self._native.to_json())
        return values

    def __getitem__(self, setting: str) -> Any:
        """A setting by its name: ``machine["sm.schedulers"]``."""
        found: Any = self.to_dict()
        for part in setting.split("."):
            found = found[part]
        return found

    def __repr__(self) -> str:
        changed = "".join(f", {o}" for o in self._overrides)
        return f"<warpsim.Machine {self.name}{changed}>"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _remake, (self._base, self._text, self._overrides)


def _remake(base: str, text: str | None, overrides: list[str]) -> Machine:
    machine = Machine.__new__(Machine)
    machine._make(base, text, overrides)
    return machine


def _overrides(settings: Mapping[str, Setting], **named: str | None) -> list[str]:
    """As the command line takes them: what is set singly goes over what a name sets."""
    keys = {"fetch": "fetch.policy", "virtualize": "virtual.mode"}
    early = [f"{k}={named[k]}" for k in ("warps", "power") if named[k] is not None]
    single = [f"{k}={_text(v)}" for k, v in settings.items()]
    late = ("scheduler", "fetch", "divergence", "virtualize")
    return early + single + [f"{keys.get(k, k)}={named[k]}" for k in late if named[k] is not None]


def _text(value: Setting) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_machine(given: Machine | str | PathLike[str]) -> Machine:
    """A machine as people name it."""
    return given if isinstance(given, Machine) else Machine(given)
