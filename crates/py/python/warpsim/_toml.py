"""Values as TOML, as far as study and launch files need them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._errors import BadInput


def value(given: Any) -> str:
    """A value on one line."""
    if isinstance(given, (bool, np.bool_)):
        return "true" if given else "false"
    if isinstance(given, (int, np.integer)):
        return str(int(given))
    if isinstance(given, (float, np.floating)):
        number = float(given)
        if math.isnan(number):
            return "nan"
        if math.isinf(number):
            return "inf" if number > 0 else "-inf"
        text = repr(number)
        return text if any(c in text for c in ".en") else text + ".0"
    if isinstance(given, str):
        # A TOML basic string is a JSON string, but for one character.
        return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(given, Mapping):
        pairs = (f"{json.dumps(str(k))} = {value(v)}" for k, v in given.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(given, Sequence):
        return "[" + ", ".join(value(v) for v in given) + "]"
    raise BadInput(f"{given!r} cannot be written into a study or launch file")


def table(name: str, entries: Mapping[str, Any]) -> str:
    """A table with a line for each entry that is not None."""
    lines = [f"[{name}]"] if name else []
    lines += [f"{key} = {value(v)}" for key, v in entries.items() if v is not None]
    return "\n".join(lines) + "\n"
