"""The page in which the warps of a run can be stepped through."""

from __future__ import annotations

import html
from os import PathLike
from pathlib import Path


class View:
    """A page; a notebook shows it in place."""

    def __init__(self, page: str) -> None:
        #: The page, which needs nothing else.
        self.page = page

    def save(self, file: str | PathLike[str]) -> Path:
        """Writes it to a file, for any browser."""
        path = Path(file)
        path.write_text(self.page, encoding="utf-8")
        return path

    def __repr__(self) -> str:
        return f"<warpsim.View, {len(self.page):,} characters: save() writes it to a file>"

    def _repr_html_(self) -> str:
        page = html.escape(self.page, quote=True)
        return f'<iframe title="warps" style="width:100%;height:900px;border:0" srcdoc="{page}"></iframe>'
