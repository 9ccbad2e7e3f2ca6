"""HolisticTraceAnalysis' figures of one trace beside ours, each with the model of its rules (reference_hta_model.py).

A figure is named after the report and the row: idle/stream 7/host_wait/idle_time. HTA prints microseconds.
"""
import itertools
from collections import defaultdict

from reference_hta_model import STATISTICS, TYPES, WORK, HtaModel
from reference_index import describe
from reference_reasons import Figure
from time_oracle import length, union


class Hta(HtaModel):
    def __init__(self, index, theirs, first_event_us):
        super().__init__(index, first_event_us)
        self.theirs = theirs

    def figures(self):
        yield from self.temporal_figures()
        yield from self.type_figures()
        yield from self.kernel_figures()
        yield from self.idle_figures()
        yield from self.idle_statistics()
        yield from self.queue_figures()
        yield from self.bandwidth_figures()
        yield from self.annotation_figures("uanno_cpu", "user")
        yield from self.annotation_figures("uanno_gpu", "gpu")
        yield from self.annotated_figures()
        yield from self.step_figures()
        yield from self.count_figures()

    def temporal_figures(self):
        (ours,) = self.index.report("timeline")
        (theirs,) = self.theirs["temporal"]
        values = {"kernel_time": ours["span"], "idle_time": ours["idle"], "compute_time": ours["computation"],
                  "non_compute_time": ours["exposed_comm"] + ours["exposed_copy"]}
        for name, value in values.items():
            yield Figure(f"temporal/{name}", theirs[f"{name}(us)"], value / 1000, 0.001,
                         lambda rules, name=name: self.temporal(rules)[name])
            if name != "kernel_time":
                yield Figure(f"temporal/{name}_pctg", theirs[f"{name}_pctg"], 100 * value / ours["span"], 0.005,
                             lambda rules, name=name: self.temporal(rules)[f"{name}_pctg"])
        (overlap,) = self.theirs["overlap"]
        yield Figure("overlap/comp_comm_overlap_pctg", overlap["comp_comm_overlap_pctg"], ours["overlap_pct"], 0.005,
                     self.overlap)

    def union(self, kinds):
        """Nanoseconds in which work of any of these kinds ran."""
        return length(union((event.ts, event.ts + event.dur) for event in self.work if WORK[event.kind] in kinds))

    def our_types(self):
        """Times of each combination by inclusion and exclusion of what some of the kinds took together."""
        kinds = list(TYPES)
        unions = {some: self.union(some) for size in range(4) for some in itertools.combinations(kinds, size)}
        out = {}
        for size in range(1, 4):
            for some in itertools.combinations(kinds, size):
                others = tuple(kind for kind in kinds if kind not in some)
                value = 0  # time in all of some and none of the others
                for part in range(size + 1):
                    for subset in itertools.combinations(some, part):
                        joined = tuple(kind for kind in kinds if kind in subset or kind in others)
                        value += (-1) ** (part + 1) * unions[joined]
                out[" overlapping ".join(TYPES[kind] for kind in some)] = value
        return out

    def type_figures(self):
        ours = self.our_types()
        sum_of_ours = sum(ours.values())
        for row in self.theirs["kernels"]["types"]:
            name = row["kernel_type"]
            yield Figure(f"types/{name}/sum", row["sum"], ours[name] / 1000, 1e-6,
                         lambda rules, name=name: self.types(rules).get(name))
            yield Figure(f"types/{name}/percentage", row["percentage"], 100 * ours[name] / sum_of_ours, 0.05,
                         lambda rules, name=name: self.type_share(name, rules))

    def our_kernels(self):
        copies = self.index.query("SELECT name, sum(dur) AS total_time, max(dur) AS max, min(dur) AS min, avg(dur) AS avg, "
                                  "coalesce(stddev(dur), 0) AS stddev FROM memcpys GROUP BY name")
        out = {row["name"]: {"sum (us)": row["total_time"] / 1000, "max (us)": row["max"] / 1000, "min (us)": row["min"] / 1000,
                             "mean (us)": row["avg"] / 1000, "stddev": row["stddev"] / 1000}
               for row in (*self.index.report("kernels"), *copies)}
        for name, kind in self.index.rows("SELECT n.name, k.kind FROM kernel k JOIN kernel_name n ON n.id = k.name_id "
                                          "UNION SELECT t.value, m.kind FROM memory_op m JOIN string t "
                                          "ON t.id = m.name_id"):
            out[name]["kernel_type"] = TYPES[WORK[kind]]
        return out

    def kernel_figures(self):
        ours = self.our_kernels()
        rows = self.theirs["kernels"]["kernels"]
        yield Figure("kernels/rows", len(rows), len(ours), 0, lambda rules: len(self.kernel_groups(rules)))
        for row in rows:
            name = row["name"]
            for column in ("sum (us)", "max (us)", "min (us)", "stddev", "mean (us)", "kernel_type"):
                yield Figure(f"kernels/{name}/{column}", row[column], ours.get(name, {}).get(column), 1e-6,
                             lambda rules, name=name, column=column: self.kernel_groups(rules).get(name, {}).get(column))

    def idle_figures(self):
        ours = {row["stream"]: row for row in self.index.report("timeline", "--per-stream", "--kernel-wait", "30us")
                if isinstance(row["device"], int)}
        for row in self.theirs["idle"]:
            stream, cause = row["stream"], row["idle_category"]
            mine = ours.get(stream)
            value = mine and mine["other_wait" if cause == "other" else cause]
            name = f"idle/stream {stream}/{cause}"
            yield Figure(f"{name}/idle_time", row["idle_time"], mine and value / 1000, 0.005,
                         lambda rules, key=(stream, cause): sum(self.gaps(rules).get(key, [])))
            share = mine and (value / mine["idle"] if mine["idle"] else None)
            yield Figure(f"{name}/idle_time_ratio", row["idle_time_ratio"], share, 0.005,
                         lambda rules, key=(stream, cause): self.idle_share(key, rules))

    def idle_statistics(self):
        ours = defaultdict(list)
        for row in self.index.report("gaps", "--each", "--per-stream", "--kernel-wait", "30us"):
            ours[row["stream"], row["launch_cause"]].append(row["dur"] / 1000)
        for row in self.theirs["idle_stats"]:
            key = row["stream"], row["idle_category"]
            mine = describe(ours.get(key, []))
            for column in STATISTICS:
                yield Figure(f"idle_stats/stream {key[0]}/{key[1]}/{column}", row[column], mine[column], 0.005,
                             lambda rules, key=key, column=column: describe(self.gaps(rules).get(key, []))[column])

    def queue_figures(self):
        for row in self.theirs["queue"] or []:
            stream = row["('stream', '')"]
            for column in STATISTICS:
                yield Figure(f"queue/stream {stream}/{column}", row[f"('queue_length', '{column}')"],
                             self.queue(stream, column, frozenset()), 1e-9,
                             lambda rules, stream=stream, column=column: self.queue(stream, column, rules))

    def bandwidth_figures(self):
        for row in self.theirs["membw"] or []:
            name = row["('name', '')"]
            ours = describe(self.bandwidths(frozenset()).get(name, []))
            for column in STATISTICS:
                yield Figure(f"membw/{name}/{column}", row[f"('memory_bw_gbps', '{column}')"], ours[column], 1e-9,
                             lambda rules, n=name, c=column: describe(self.bandwidths(rules).get(n, []))[c])

    def annotation_figures(self, what, kind):
        ours = {row["name"]: row for row in self.index.query(
            "SELECT t.value AS name, sum(a.dur) AS total, max(a.dur) AS max, min(a.dur) AS min, avg(a.dur) AS mean, "
            f"coalesce(stddev(a.dur), 0) AS stddev FROM annotation a JOIN string t ON t.id = a.name_id "
            f"WHERE a.kind = '{kind}' GROUP BY 1")}
        columns = {"sum (us)": "total", "max (us)": "max", "min (us)": "min", "mean (us)": "mean", "stddev": "stddev"}
        for row in self.theirs[what] or []:
            mine = ours.get(row["name"])
            for column, own in columns.items():
                yield Figure(f"{what}/{row['name']}/{column}", row[column], mine and mine[own] / 1000, 1e-6)

    def annotated_figures(self):
        """How many kernels and copies run inside which annotation of the device."""
        theirs = self.theirs["kanno"]
        if not theirs:
            return
        yield Figure("kanno/n", theirs["n"], self.index.value(
            "SELECT (SELECT count(*) FROM kernel) + (SELECT count(*) FROM memory_op)"))
        ours = self.annotated(frozenset())
        for name, count in theirs["by"].items():
            yield Figure(f"kanno/{name}", count, ours[name], 0, lambda rules, name=name: self.annotated(rules)[name])

    def step_figures(self):
        steps = [row["name"] for row in self.index.report("steps")]
        numbers = sorted(int(name.split("#")[1]) for name in steps if (name or "").startswith("ProfilerStep#"))
        yield Figure("steps", sorted(self.theirs["steps"]), numbers)

    def count_figures(self):
        ours = {"kernel": "SELECT count(*) FROM kernel", "cuda_sync": "SELECT count(*) FROM slice s JOIN string c "
                "ON c.id = s.category_id WHERE c.value = 'cuda_sync'", "cpu_op": "SELECT count(*) FROM cpu_op",
                "gpu_memcpy": "SELECT count(*) FROM memory_op WHERE kind = 'memcpy'",
                "gpu_memset": "SELECT count(*) FROM memory_op WHERE kind = 'memset'"}
        for category, count in self.theirs["gpu_cats"].items():
            yield Figure(f"gpu_cats/{category}", count, self.index.value(ours[category]), 0,
                         lambda rules, category=category: self.with_stream(category, rules))
