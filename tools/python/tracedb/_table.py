"""Rows of an answer."""
import html
import re
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union, overload

Row = Dict[str, Any]

_SHOWN = 50  # rows of a notebook or of repr()
_LONGEST = 200  # characters of a cell there
# What reorders or hides the text around it, or is no character.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def _escaped(match: "re.Match[str]") -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _shown(value: Any) -> str:
    text = "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    text = _OBEYED.sub(_escaped, text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST // 2]}\u2026{text[-_LONGEST // 2:]}"


class Table(Sequence[Row]):
    """Rows, each a dict of cells by column. In a notebook it shows itself as a table."""

    def __init__(self, rows: Sequence[Row], units: Optional[Dict[str, str]] = None,
                 warnings: Optional[Sequence[str]] = None) -> None:
        self.rows: List[Row] = list(rows)
        self.units: Dict[str, str] = dict(units or {})  # by column: "ns", "percent", "count" ...
        self.warnings: List[str] = list(warnings or [])

    @property
    def columns(self) -> List[str]:
        return list(self.rows[0]) if self.rows else list(self.units)

    def column(self, name: str) -> List[Any]:
        return [row[name] for row in self.rows]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; ImportError where pandas is not installed."""
        import pandas  # noqa: PLC0415

        return pandas.DataFrame(self.rows, columns=self.columns)

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> "Table": ...

    def __getitem__(self, place: Union[int, slice]) -> Union[Row, "Table"]:
        if isinstance(place, slice):
            return Table(self.rows[place], self.units, self.warnings)
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def _heads(self) -> List[str]:
        return [f"{name} ({self.units[name]})" if self.units.get(name, "text") not in ("text", "any", "count") else name
                for name in self.columns]

    def _texts(self) -> Tuple[List[str], List[List[str]], List[str]]:
        """Heads, rows and what follows them, ready to be shown."""
        rows = [[_shown(row.get(name)) for name in self.columns] for row in self.rows[:_SHOWN]]
        left = len(self.rows) - _SHOWN
        notes = ([f"... and {left} more rows"] if left > 0 else []) + [_shown(text) for text in self.warnings]
        return [_shown(head) for head in self._heads()], rows, notes

    def __repr__(self) -> str:
        heads, rows, notes = self._texts()
        if not heads:
            return "\n".join(["(no rows)", *notes])
        widths = [max(map(len, cells)) for cells in zip(heads, *rows)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip() for cells in [heads, *rows]]
        return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:], *notes])

    def _repr_html_(self) -> str:
        heads, rows, notes = self._texts()

        def line(tag: str, cells: Sequence[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(line("td", cells) for cells in rows)
        below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
        return f"<table><thead>{line('th', heads)}</thead><tbody>{body}</tbody></table>{below}"
