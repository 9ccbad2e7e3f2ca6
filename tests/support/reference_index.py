"""Our figures for the comparison with other tools: reports of trace-query and SQL over the index of one trace."""
import statistics
from functools import lru_cache
from pathlib import Path

from trace_cases import ingest, open_index, open_packed, rows


class Index:
    """A trace, ingested once; reports and SQL are read when they are first asked for."""

    def __init__(self, trace, folder):
        self.path = ingest(trace, Path(folder) / f"{trace.name}.tracedb", "--keep-args")
        self.database = open_index(self.path)
        self.raw_base_ns = self.meta("base_time_ns") - self.meta("trace.baseTimeNanoseconds")

    @lru_cache(maxsize=None)
    def rows(self, sql, *arguments):
        database = self.packed() if "python_call" in sql else self.database
        return database.execute(sql, arguments).fetchall()

    @lru_cache(maxsize=None)
    def packed(self):
        return open_packed(self.path)

    def value(self, sql, *arguments):
        row = self.database.execute(sql, arguments).fetchone()
        return row[0] if row else None

    @lru_cache(maxsize=None)
    def report(self, name, *options):
        return rows(name, *options, self.path)

    @lru_cache(maxsize=None)
    def query(self, sql):
        """Rows of `trace-query sql`, with its functions and views."""
        return rows("sql", self.path, sql)

    def meta(self, key):
        return int(self.value("SELECT value FROM meta WHERE key = ?", key) or 0)

    def raw_us(self, ts):
        """A time of the index as tools have it that keep the microseconds of the trace in a double."""
        return (self.raw_base_ns + ts) / 1000


def quantile(ordered, share):
    """As pandas has it: linear between the two nearest."""
    at = (len(ordered) - 1) * share
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def describe(values):
    """Like pandas: count, mean, std, min, 25%, 50%, 75%, max; None where there is none."""
    ordered = sorted(values)
    out = {"count": float(len(ordered))}
    out["mean"] = statistics.fmean(ordered) if ordered else None
    out["std"] = deviation(ordered) if len(ordered) > 1 else None
    for name, share in (("min", 0), ("25%", 0.25), ("50%", 0.5), ("75%", 0.75), ("max", 1)):
        out[name] = quantile(ordered, share) if ordered else None
    return out


def deviation(values):
    mean = statistics.fmean(values)
    return (statistics.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5
