"""The programs of the page on Python run, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT


def test_the_programs_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/python.md").read_text()
    programs = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(programs) == 5
    names: dict[str, object] = {}
    for program in programs:
        exec(compile(program, "docs/python.md", "exec"), names)
    shown = capsys.readouterr().out
    assert "[0. 2. 4.]" in shown and "1 True" in shown and "report.html" in shown
    # What the other programs are: that the page shows the files as they are is tested with the guide.
    shown_files = re.findall(r"^<!-- file (.*?) -->", page, re.MULTILINE)
    assert all((ROOT / "docs" / name).exists() for name in shown_files) and len(shown_files) == 3
