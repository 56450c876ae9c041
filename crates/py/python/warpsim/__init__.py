"""warpsim: a GPU simulator for people who study warps, from Python.

>>> import warpsim
>>> print(warpsim.run("matmul", size="tiny", scheduler="gto"))

:func:`run` simulates kernels on NumPy arrays, workloads and launch files; :class:`Machine` and :class:`Kernel` say what and
on what; :class:`Study` runs many and compares, here or on a cluster; :class:`Scheduler` is for policies of your own.
"""

from ._errors import BadInput, ProgramFailed, WarpsimError
from ._kernel import Kernel, Launch, Parameter
from ._machine import Machine
from ._native import Place, __version__, names
from ._result import LaunchResult, Result
from ._run import run
from ._scheduler import Scheduler
from ._study import Study, StudyResult, merge
from ._view import View

__all__ = [
    "BadInput",
    "Kernel",
    "Launch",
    "LaunchResult",
    "Machine",
    "Parameter",
    "Place",
    "ProgramFailed",
    "Result",
    "Scheduler",
    "Study",
    "StudyResult",
    "View",
    "WarpsimError",
    "__version__",
    "merge",
    "names",
    "run",
]
