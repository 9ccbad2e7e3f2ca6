"""Traces and comparisons."""
import math
import os
from numbers import Integral, Real
from typing import Any, Dict, List, Sequence, Tuple, Union

from ._picture import Picture, bars
from ._programs import ask, command, options
from ._table import Table

Path = Union[str, "os.PathLike[str]"]


def _table(part: Dict[str, Any], warnings: Any = ()) -> Table:
    return Table(part.get("rows", []), part.get("units"), [str(warning) for warning in warnings])


def _given(path: Path) -> str:
    """A name that begins with a dash is no option."""
    text = os.fspath(path)
    return os.path.join(".", text) if text.startswith("-") else text


def _bound(name: str, value: Any) -> str:
    """Texts stay texts, whatever they read as."""
    if value is None:
        return f"--param={name}:null="
    if isinstance(value, str):
        return f"--param={name}:text={value}"
    if isinstance(value, Real) and math.isfinite(value):
        return f"--param={name}={int(value) if isinstance(value, Integral) else float(value)}"
    raise TypeError(f"parameter {name}: {value!r} is no text, finite number, bool or None")


class Trace:
    """A trace with its index; or an index alone."""

    def __init__(self, path: Path, info: Table, common: Dict[str, Any]) -> None:
        self.path = os.fspath(path)
        self.info = info  # what the trace is: rows of section, item, value, unit
        self._common = common

    def report(self, name: str, **values: Any) -> Table:
        """What `trace-query NAME` answers, all rows of it. Options are those of its help, with _ for -:
        report("ops", phase="decode"), report("layers", per_op=True), report("kernels", step="10..20", limit=5)."""
        if name not in ("info", "verify"):
            values = {"limit": 0, **values}
        document = ask([*command(name), *options({**self._common, **values}), _given(self.path)])
        return _table(document, document.get("warnings", []))

    def sql(self, statement: str, **parameters: Any) -> Table:
        """The rows of a statement, read-only; `trace-query schema` lists tables, columns and functions. Parameters are
        bound to :name, texts as texts, numbers as numbers, None as NULL, True as 1 and False as 0."""
        document = ask(["sql", *options(self._common), *(_bound(*one) for one in parameters.items()), "--limit=0", "--file=-", _given(self.path)], stdin=statement)
        return _table(document, document.get("warnings", []))

    def recipe(self, name: str, **parameters: Any) -> Table:
        """The answer of a query of the cookbook; `trace-query sql --recipes` lists them."""
        document = ask(["sql", *options(self._common), *(_bound(*one) for one in parameters.items()), "--limit=0", f"--recipe={name}", _given(self.path)])
        return _table(document, document.get("warnings", []))

    def __repr__(self) -> str:
        return f"tracedb.Trace({self.path!r})"

    def _repr_html_(self) -> str:
        return self.info._repr_html_()


class Comparison:
    """What `trace-query compare` found, with all its sections."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self.inputs: List[str] = document.get("inputs", [])
        self.warnings: List[str] = [str(text) for text in document.get("warnings", [])]
        self.verdict = _table({"rows": document.get("verdict", [])})  # faster, slower, the same, by kind of step
        self.reasons = _table({"rows": document.get("reasons", [])})  # why, the largest first
        self.sections: Dict[str, Table] = {}
        for name in ("sets", "ledger", "runs", "gate"):  # of sets of runs
            if name in document:
                self.sections[name] = _table({"rows": document[name]})
        for part in document.get("sections", []):
            self.sections[part["section"]] = _table(part)

    def __getitem__(self, section: str) -> Table:
        return self.sections[section]

    def __repr__(self) -> str:
        return f"{self.verdict!r}\n\n{self.reasons!r}"

    def pictures(self) -> List[Picture]:
        """The reasons of each kind of step as bars: orange is slower, blue faster."""
        groups: Dict[Tuple[Any, Any], List[Tuple[object, float]]] = {}
        for row in self.reasons:
            name = row.get("item") or row.get("role") or row.get("op") or row.get("cause")
            groups.setdefault((row.get("trace") or "the candidate", row.get("phase")), []).append((name, float(row["change"])))
        return [bars(f"{phase}: why {os.path.basename(str(trace))} differs, per step", rows, "ns", changes=True)
                for (trace, phase), rows in groups.items()]

    def _repr_html_(self) -> str:
        pictures = "".join(f"<div>{picture.svg}</div>" for picture in self.pictures())
        return f"{self.verdict._repr_html_()}{pictures}{self.reasons._repr_html_()}"


def open(path: Path, *, build: bool = True, **common: Any) -> Trace:  # noqa: A001
    """A trace or an index. The index of a trace is built where there is none, or, with build=False, missed with an Error.
    Other options go to every report: open("t.json", rules="wafer")."""
    kept = {**common, **({} if build else {"no_ingest": True})}
    document = ask(["info", *options(kept), _given(path)])
    return Trace(path, _table(document, document.get("warnings", [])), kept)


def compare(baseline: Union[Path, Trace], candidate: Union[Path, Trace], **values: Any) -> Comparison:
    """What changed from the baseline to the candidate, and why. Options are those of `trace-query compare --help`."""
    paths = [_given(trace.path if isinstance(trace, Trace) else trace) for trace in (baseline, candidate)]
    return Comparison(ask(["compare", *options({"limit": 0, **values}), *paths]))


def compare_sets(baseline: Sequence[Path], candidate: Sequence[Path], **values: Any) -> Comparison:
    """What changed between two sets of runs, by more than varies from run to run. Each is a list of traces, indexes and folders;
    traces that are ranks of one job are one run. Beside verdict and reasons: ["ledger"], ["runs"], ["sets"]."""
    sides = [[_given(path) for path in side] for side in (baseline, candidate)]
    return Comparison(ask(["compare", *options(values), "--baseline", *sides[0], "--candidate", *sides[1]]))
