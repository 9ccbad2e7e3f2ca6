"""Pictures in notebooks: bars as SVG, without a library."""
import html
from typing import List, Sequence, Tuple

from ._shown import shown

_WIDTH, _ROW, _LABEL, _FIGURE = 720, 22, 260, 90  # pixels: of all, of a row, of the names, of the figures
_BLUE, _ORANGE = "#0072b2", "#d55e00"  # faster, slower; told apart by the colour-blind


def human(value: float, unit: str) -> str:
    """1234567 ns is 1.23 ms."""
    if unit != "ns":
        return f"{value:,.6g}" + ("" if unit in ("", "count", "any") else " %" if unit == "percent" else f" {unit}")
    for name, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(value) >= factor:
            return f"{value / factor:.3g} {name}"
    return f"{value:.3g} ns"


class Picture:
    """Shows itself in a notebook; `svg` is its text."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    _repr_html_ = _repr_svg_


def bars(title: str, rows: Sequence[Tuple[object, float]], unit: str, changes: bool = False) -> Picture:
    """A bar for each name; of changes, to the left what became less and to the right what became more."""
    lowest = min([0.0, *(value for _, value in rows)])
    highest = max([0.0, *(value for _, value in rows)])
    room = _WIDTH - _LABEL - 2 * _FIGURE
    scale = room / ((highest - lowest) or 1.0)
    zero = _LABEL + _FIGURE - lowest * scale
    parts: List[str] = [f'<text x="0" y="14" font-weight="bold">{html.escape(shown(title))}</text>']
    for place, (name, value) in enumerate(rows, 1):
        top, length = place * _ROW, abs(value) * scale
        left = zero if value >= 0 else zero - length
        colour = _ORANGE if changes and value > 0 else _BLUE
        sign = "+" if changes and value > 0 else ""
        edge, anchor = (left - 4, "end") if value < 0 else (left + length + 4, "start")
        label = shown(name)
        label = label if len(label) <= 40 else f"{label[:19]}\u2026{label[-20:]}"
        parts.append(f'<rect x="{left:.1f}" y="{top + 3}" width="{length:.1f}" height="{_ROW - 6}" fill="{colour}"/>'
                     f'<text x="{_LABEL - 8}" y="{top + 15}" text-anchor="end">{html.escape(label)}</text>'
                     f'<text x="{edge:.1f}" y="{top + 15}" text-anchor="{anchor}">{sign}{html.escape(human(value, unit))}</text>')
    height = (len(rows) + 1) * _ROW + 4
    return Picture(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
                   f'font-family="sans-serif" font-size="12" fill="currentColor">{"".join(parts)}</svg>')
