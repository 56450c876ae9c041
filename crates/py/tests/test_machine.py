"""Machines from everywhere."""

from __future__ import annotations

import pickle

import pytest
import warpsim


def test_presets_overrides_and_settings() -> None:
    machine = warpsim.Machine("gtx480", scheduler="gto", set={"sm.schedulers": 1})
    assert machine.name == "gtx480" and machine["sm.schedulers"] == 1
    other = machine.replace(scheduler="lrr", set={"l2.latency": 100})
    assert other["l2.latency"] == 100 and other["sm.schedulers"] == 1
    assert machine["l2.latency"] != 100
    assert "gtx480" in warpsim.names("machines") and "gto" in warpsim.names("schedulers")
    assert pickle.loads(pickle.dumps(other)).to_dict() == other.to_dict()


def test_texts_and_dictionaries() -> None:
    text = 'schema = 1\nextends = "gtx480"\nname = "mine"\n[sm]\nschedulers = 1\n'
    machine = warpsim.Machine.from_toml(text)
    assert machine.name == "mine" and machine["sm.schedulers"] == 1
    same = warpsim.Machine.from_dict({"extends": "gtx480", "name": "mine", "sm": {"schedulers": 1}})
    assert same.to_dict() == machine.to_dict()
    runs = [warpsim.run("vecadd", size="tiny", machine=m).stats for m in (machine, same)]
    assert runs[0] == runs[1]


def test_files(tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "machine.toml"
    file.write_text('schema = 1\nextends = "gtx480"\nname = "filed"\n')
    assert warpsim.Machine(file).name == warpsim.Machine.from_file(file).name == "filed"


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(warpsim.BadInput, match="did you mean `gtx480`"):
        warpsim.Machine("gtx48")
    with pytest.raises(warpsim.BadInput, match="did you mean `sm.schedulers`"):
        warpsim.Machine(set={"sm.shedulers": 1})
    with pytest.raises(warpsim.BadInput, match="between 1 and 16"):
        warpsim.Machine.from_toml('schema = 1\nextends = "gtx480"\n[sm]\nschedulers = 99\n', "mine")
