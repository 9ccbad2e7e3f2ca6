"""TraceLens' reports of one trace beside ours, each figure with the model of its rules (reference_tracelens_model.py).

A figure is named after the report, the row and the column: ops_summary/aten::mm/Count. TraceLens prints microseconds, and
milliseconds in its time line.
"""
import csv
import gzip
import io
import statistics
from collections import defaultdict
from functools import lru_cache

from reference_index import deviation
from reference_reasons import Figure
from reference_tracelens_model import ARGUMENTS, UNLAUNCHED, TraceLensModel, plain

csv.field_size_limit(1 << 26)
TIMELINE = {"computation_time": "computation", "exposed_comm_time": "exposed_comm", "exposed_memcpy_time": "exposed_copy",
            "busy_time": "busy", "idle_time": "idle", "total_time": "span", "total_comm_time": "comm",
            "total_memcpy_time": "copy"}
STATISTICS = ("mean", "median", "std", "min", "max", "sum")
UNIQUE = {"operation_count": "count"} | {f"total_{kind}_kernel_time_{name}": f"{kind} {name}" for name in STATISTICS
                                         for kind in ("direct", "subtree")}
KERNEL_TIME = {f"Kernel Time (µs)_{name}": f"subtree {name}" for name in STATISTICS}
UNIFIED = {"operation_count": "count", "total_duration_us": "host sum", "mean_duration_us": "host mean",
           "std_duration_us": "host std", "duration_us_median": "host median", "duration_us_min": "host min",
           "duration_us_max": "host max"} | KERNEL_TIME
MODELLED = ("GFLOPS", "Data Moved (MB)", "FLOPS/Byte", "TB/s", "TFLOPS/s")
SHARES = {
    "ops_summary": ("Percentage (%)", lambda one, row, rules: one.operator_sums(rules).get(row["name"], [0, 0])[1]),
    "ops_unique_args": ("Percentage (%)", lambda one, row, rules: one.by_arguments(rules, False).get(
        one.key(row), {}).get("direct sum")),
    "unified_perf_summary": ("Percentage (%)", lambda one, row, rules: one.by_arguments(rules, True).get(
        one.key(row), {}).get("subtree sum")),
    "kernel_summary": ("Percent of kernels time (%)", lambda one, row, rules: sum(one.kernels(rules).get(
        (row.get("Parent cpu_op", ""), row["Kernel name"], row["Kernel stream"]), [0]))),
}
NO_SHEETS = {"gpu_timeline", "kernel_summary", "earlier_gpu_timeline", "earlier_kernel_summary", "ops_summary",
             "ops_unique_args", "ops_summary_by_category", "unified_perf_summary", "short_kernels_summary", "coll_analysis"}
KERNEL_COLUMNS = {"sum": sum, "count": len, "mean": statistics.fmean, "min": min, "max": max}
OUR_WORK_SQL = """
SELECT w.name, w.shape, w.types, s.strides, s.concrete_inputs, flops, bytes, busy, all_flops, all_bytes, busy_min, busy_med, busy_max, rate_std
FROM operator_work w JOIN op_shape s ON s.id = w.shape_id"""
COLLECTIVE_SQL = """
SELECT c.group_name, c.ranks, c.name, c.group_size, c.dtype, c.in_elements, c.out_elements, s.number, k.dur
FROM collective c JOIN kernel k ON k.id = c.kernel_id JOIN stream s ON s.id = k.stream_id"""


def read(folder):
    """{report: rows} of one trace; those of an earlier run lie in a folder beside."""
    reports = {}
    for path in sorted(folder.glob("*.csv.gz")):
        with io.TextIOWrapper(gzip.open(path), encoding="utf-8-sig", newline="") as file:
            reports[path.name.removesuffix(".csv.gz")] = list(csv.DictReader(file))
    for path in sorted((folder.parents[1] / "tracelens").glob(f"{folder.name}.*.csv")):
        with open(path, encoding="utf-8-sig", newline="") as file:
            reports["earlier_" + path.name.removeprefix(folder.name + ".").removesuffix(".csv")] = list(csv.DictReader(file))
    return reports


def number(text):
    return float(text) if text not in ("", "nan") else None


class TraceLens(TraceLensModel):
    def figures(self):
        for run in ("", "earlier_"):
            yield from self.timeline_figures(f"{run}gpu_timeline")
            if f"{run}kernel_summary" in self.theirs:
                yield from self.kernel_figures(f"{run}kernel_summary")
        yield from self.operator_figures()
        for report in SHARES:
            yield from self.share_figures(report)
        for report in sorted(set(self.theirs) - NO_SHEETS):
            for row in self.theirs[report]:
                yield from self.sheet_figures(report, row)
        yield from self.short_figures()
        yield from self.collective_figures()

    def share_figures(self, report):
        """Percentages of the sum of the column over the rows they list."""
        rows = self.theirs.get(report, [])
        column, value = SHARES[report]

        @lru_cache(maxsize=None)
        def shares(rules):
            values = [value(self, row, rules) or 0 for row in rows]
            return [100 * one / sum(values) for one in values] if sum(values) else [0.0] * len(values)

        ours = shares(frozenset())
        for at, row in enumerate(rows):
            name = f"{report}/{row.get('name', row.get('Kernel name'))} {row.get('Input Dims', '')}"
            yield Figure(f"{name}/{column}", number(row[column]), ours[at], 1e-3, lambda rules, at=at: shares(rules)[at])
            if row.get(f"Cumulative {column}"):
                yield Figure(f"{name}/Cumulative {column}", number(row[f"Cumulative {column}"]), sum(ours[:at + 1]), 1e-3,
                             lambda rules, at=at: sum(shares(rules)[:at + 1]))

    def timeline_figures(self, report="gpu_timeline"):
        ours = self.index.report("timeline")[0]
        for row in self.theirs.get(report, []):
            name = TIMELINE[row["type"]]
            yield Figure(f"{report}/{row['type']}/time ms", float(row["time ms"]), ours[name] / 1e6, 1e-6,
                         lambda rules, name=name: self.timeline(rules)[name] / 1000)
            yield Figure(f"{report}/{row['type']}/percent", float(row["percent"]), 100 * ours[name] / ours["span"], 1e-6,
                         lambda rules, name=name: 100 * self.timeline(rules)[name] / self.timeline(rules)["span"])

    def kernel_figures(self, report="kernel_summary"):
        rows = self.theirs.get(report, [])
        keys = {(row.get("Parent cpu_op", ""), row["Kernel name"], row["Kernel stream"]): row for row in rows}
        yield Figure(f"{report}/rows", len(rows), len(self.kernels(frozenset())), 0, lambda rules: len(self.kernels(rules)))
        for key, row in keys.items():
            mine = self.kernels(frozenset()).get(key)
            for column, of in KERNEL_COLUMNS.items():
                yield Figure(f"{report}/{'/'.join(key)}/{column}", number(row[f"Kernel duration (µs)_{column}"]),
                             of(mine) if mine else None, 1e-6,
                             lambda rules, key=key, of=of: of(self.kernels(rules)[key]) if key in self.kernels(rules) else None)
            yield Figure(f"{report}/{'/'.join(key)}/of total time", number(row["Percent of total time (%)"]),
                         mine and self.of_span(mine), 1e-5, lambda rules, key=key: (
                             self.of_span(self.kernels(rules - {UNLAUNCHED}).get(key, [0]), rules)))

    def operator_figures(self):
        ours = self.operator_sums(frozenset())
        for row in self.theirs.get("ops_summary", []):
            for at, column in enumerate(("Count", "total_direct_kernel_time_sum", "total_subtree_kernel_time_sum")):
                yield Figure(f"ops_summary/{row['name']}/{column}", number(row[column]),
                             ours.get(row["name"], [None] * 3)[at], 0.001,
                             lambda rules, name=row["name"], at=at: self.operator_sums(rules).get(name, [None] * 3)[at])
        yield from self.taxonomy_figures()
        for report, columns in (("ops_unique_args", UNIQUE), ("unified_perf_summary", UNIFIED)):
            for row in self.theirs.get(report, []):
                yield from self.row_figures(report, row, self.key(row), columns)

    def taxonomy_figures(self):
        for row in self.theirs.get("ops_summary_by_category", []):
            for column in ("Count", "total_direct_kernel_time_ms"):
                yield Figure(f"ops_summary_by_category/{row['op category']}/{column}", number(row[column]), "classes of kernels")

    def row_figures(self, report, row, key, columns):
        name = f"{report}/{key[0]} {row['Input Dims']}"
        every = report == "unified_perf_summary"
        ours = self.by_arguments(frozenset(), every).get(key, {})
        for column, own in columns.items():
            if column in row:
                yield Figure(f"{name}/{column}", number(row[column]), ours.get(own), 0.001,
                             lambda rules, own=own: self.by_arguments(rules, every).get(key, {}).get(own))
        yield from self.modelled(name, row)

    @lru_cache(maxsize=None)
    def our_work(self):
        """{name and arguments: FLOPs and bytes of a call, and of all with what they took}; what is no operator of ours that is
        known to compute has no entry."""
        return {tuple([row["name"], *(plain(row[column]) for column in ("shape", "types", "strides", "concrete_inputs"))]): row
                for row in self.index.query(OUR_WORK_SQL)}

    def modelled(self, name, row):
        """Of one call; rates are of all calls together, so that only their middle can be compared."""
        first = "_first" if "Input Dims_first" in row else ""
        mine = self.our_work().get((row["name"], *(plain(row[f"{column}{first}"]) for column in ARGUMENTS)))
        flops, size = (mine["flops"], mine["bytes"]) if mine else (None, None)
        ours = {"GFLOPS": flops is not None and flops / 1e9, "Data Moved (MB)": size is not None and size / 2**20,
                "FLOPS/Byte": flops is not None and bool(size) and flops / size}
        if mine and mine["busy"]:
            rates = {"TFLOPS/s": mine["all_flops"] is not None and mine["all_flops"] / mine["busy"] / 1000,
                     "TB/s": mine["all_bytes"] is not None and mine["all_bytes"] / mine["busy"] / 1000}
            ours |= {f"{rate}_mean": value for rate, value in rates.items()}
            for spread, busy in (("min", "busy_max"), ("median", "busy_med"), ("max", "busy_min")):
                for rate, amount in (("TFLOPS/s", flops), ("TB/s", size)):
                    ours[f"{rate}_{spread}"] = amount is not None and mine[busy] and amount / mine[busy] / 1000
            for rate, amount in (("TFLOPS/s", flops), ("TB/s", size)):
                one = mine["rate_std"] is None  # call, whose rate has no deviation
                ours[f"{rate}_std"] = None if one else amount is not None and amount * mine["rate_std"] / 1000
        for column, text in row.items():
            if column.startswith(MODELLED):
                value = ours.get(column.removesuffix("_first"), False)
                # Their times are floats of microseconds: 2 ns are no difference.
                rate = ours.get(column.replace("_std", "_mean")) or 0
                tolerance = 2 * rate / max(1, mine["busy_min"] or 0) if "/s_" in column and rate else 1e-6
                theirs = number(text)
                yield Figure(f"{name}/{column}", theirs, "not known" if value is False or value is None is not theirs else value, tolerance)

    def sheet_figures(self, report, row):
        """A row of GEMM, SDPA, ...: operators of one name and one set of parameters, with or without work; in Reduce_bwd
        the time is of their backward operators."""
        key = row["name"], *(plain(row[f"{column}_first"]) for column in ARGUMENTS[:3])
        name = f"{report}/{row['name']} {row['Input Dims_first']}"
        backward = report == "Reduce_bwd"
        for column, own in ({"name_count": "count"} | KERNEL_TIME).items():
            yield Figure(f"{name}/{column}", number(row[column]), self.sheet(frozenset(), backward).get(key, {}).get(own),
                         0.001, lambda rules, own=own: self.sheet(rules, backward).get(key, {}).get(own))
        yield from self.modelled(name, row)

    def short_figures(self):
        head = "Short Kernel duration (µs)"
        for row in self.theirs["short_kernels_summary"]:
            if "Kernel name" not in row:
                continue
            key = (row.get("Parent cpu_op", ""), *(plain(row.get(column)) for column in (
                "Input dims", "Input strides", "Concrete Inputs")), row["Kernel name"])
            ours = self.short_kernels(frozenset()).get(key)
            for column, of in ((f"{head} sum", sum), ("Short Kernel count", len), (f"{head} mean", statistics.fmean),
                               (f"{head} percent of total time", self.of_span)):
                yield Figure(f"short_kernels_summary/{key[0]} {row['Kernel name']}/{column}", number(row[column]),
                             ours and of(ours), 1e-6, lambda rules, of=of, key=key: (
                                 of(self.short_kernels(rules)[key]) if key in self.short_kernels(rules) else None))

    def collective_figures(self):
        groups = defaultdict(list)
        for group, ranks, name, size, dtype, given, got, stream, dur in self.index.rows(COLLECTIVE_SQL):
            groups[group, plain(ranks), name, size, dtype, given, got, str(stream)].append(dur / 1000)
        for row in self.theirs.get("coll_analysis", []):
            key = (row["Process Group Name"], plain(row["Process Group Ranks"]), row["Collective name"],
                   int(float(row["Group size"])), row["dtype"], int(float(row["In msg nelems"])),
                   int(float(row["Out msg nelems"])), row["stream"])
            mine = groups.get(key)
            for column, of in (("dur_sum", sum), ("dur_mean", statistics.fmean), ("dur_min", min), ("dur_max", max),
                               ("operation_count", len), ("dur_std", lambda v: deviation(v) if len(v) > 1 else None)):
                yield Figure(f"coll_analysis/{'/'.join(map(str, key))}/{column}", number(row[column]), mine and of(mine), 1e-6)
