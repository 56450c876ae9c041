"""The package itself: version, types, stub."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import warpsim
from conftest import ROOT
from warpsim import _native

PACKAGE = Path(__file__).resolve().parents[1]


def test_the_version_is_that_of_the_workspace() -> None:
    manifest = (ROOT / "Cargo.toml").read_text()
    version = re.search(r'^version = "(.+)"$', manifest, re.MULTILINE)
    assert version is not None
    assert warpsim.__version__ == metadata.version("warpsim") == version[1]


def test_the_package_is_typed_and_its_stub_is_true() -> None:
    pytest.importorskip("mypy")
    commands = (["mypy"], ["mypy.stubtest", "warpsim._native", "--ignore-missing-stub", "--ignore-disjoint-bases"])
    for command in commands:
        told = subprocess.run(
            [sys.executable, "-m", *command], cwd=PACKAGE, capture_output=True, text=True, check=False
        )
        assert told.returncode == 0, told.stdout + told.stderr
    assert (Path(warpsim.__file__).parent / "py.typed").exists()


def test_everything_public_is_documented() -> None:
    for name in warpsim.__all__:
        thing = getattr(warpsim, name)
        if not name.startswith("__"):
            assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for method, function in inspect.getmembers(thing, inspect.isroutine):
                if not method.startswith("_"):
                    assert inspect.getdoc(function), f"{name}.{method}"
    assert _native.__version__
