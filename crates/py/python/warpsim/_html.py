"""Runs as notebooks show them: summary, stall chart, timeline."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native

#: A colour for each state of a warp, as the HTML reports have it.
_COLOURS = _native.state_colours()

_MOST_ROWS = 24


def _colour(state: str) -> str:
    return _COLOURS[state]


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Names and values."""
    cells = (f"<tr><th style='text-align:left'>{html.escape(n)}</th><td>{html.escape(v)}</td></tr>" for n, v in rows)
    return f"<table>{''.join(cells)}</table>"


def stall_chart(stats: Mapping[str, float]) -> str:
    """What warps did with their time, as one bar with its shares."""
    states = {k.removeprefix("warp_states."): v for k, v in stats.items() if k.startswith("warp_states.")}
    total = sum(states.values())
    if not total:
        return ""
    width, x = 640.0, 0.0
    bars, legend = [], []
    for state, count in states.items():
        share = count / total
        if share < 0.001:
            continue
        title = f"{state}: {share:.1%}"
        bars.append(
            f'<rect x="{x:.1f}" y="0" width="{share * width:.1f}" height="22" fill="{_colour(state)}">'
            f"<title>{html.escape(title)}</title></rect>"
        )
        legend.append(f'<span style="color:{_colour(state)}">&#9632;</span> {html.escape(title)}')
        x += share * width
    return (
        '<div>what warps did:<br><svg width="640" height="22" role="img" aria-label="warp states">'
        f"{''.join(bars)}</svg><br><small>{' &nbsp; '.join(legend)}</small></div>"
    )


def timeline_chart(timeline: Mapping[str, Any]) -> str:
    """What the warps of an SM did over time: a row for each slot."""
    segments = timeline["segments"]
    if not segments:
        return ""
    states = timeline["states"]
    start = min(s[3] for s in segments)
    end = max(s[3] + s[4] for s in segments)
    slots = sorted({s[0] for s in segments})[:_MOST_ROWS]
    rows = {slot: row for row, slot in enumerate(slots)}
    width, height = 900.0, 8
    scale = width / max(end - start, 1)
    parts = []
    for slot in slots:
        # What is narrower than a fraction of a pixel is drawn with what follows it.
        drawn, until = [], -1.0
        for _, block, warp, begin, length, state in (s for s in segments if s[0] == slot):
            left, right = (begin - start) * scale, (begin + length - start) * scale
            if right - until < 0.4:
                continue
            name = states[state]
            title = f"block {block} warp {warp}: {name}, cycles {begin} to {begin + length}"
            drawn.append(
                f'<rect x="{max(left, until):.1f}" width="{right - max(left, until):.1f}" height="{height - 1}" '
                f'y="{rows[slot] * height}" fill="{_colour(name)}"><title>{html.escape(title)}</title></rect>'
            )
            until = right
        parts += drawn
    more = f", {timeline['left_out']} segments left out" if timeline["left_out"] else ""
    return (
        f"<div>SM {timeline['sm']}, cycles {start} to {end}, a row per warp{more}:<br>"
        f'<svg width="{width:.0f}" height="{len(slots) * height}" role="img" aria-label="timeline">'
        f"{''.join(parts)}</svg></div>"
    )
