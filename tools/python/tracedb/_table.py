"""Rows of an answer."""
import html
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union, overload

from ._picture import Picture, bars
from ._shown import shown

Row = Dict[str, Any]

_SHOWN = 50  # rows of a notebook or of repr()


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

    def bars(self, name: str, value: str, most: int = 20) -> Picture:
        """A picture of the first rows: report("ops").bars("op", "total_time")."""
        rows = [(row[name], float(row[value])) for row in self.rows[:most] if row[value] is not None]
        return bars(f"{value} by {name}", rows, self.units.get(value, ""))

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
        rows = [[shown(row.get(name)) for name in self.columns] for row in self.rows[:_SHOWN]]
        left = len(self.rows) - _SHOWN
        notes = ([f"... and {left} more rows"] if left > 0 else []) + [shown(text) for text in self.warnings]
        return [shown(head) for head in self._heads()], rows, notes

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
