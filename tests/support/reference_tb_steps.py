"""The plugin's steps: their windows, what ran in them, and the figures of devices over them."""
from functools import lru_cache

from reference_tb_trees import ANNOTATION_SQL, COLLECTIVES, IMAGES, Trees
from time_oracle import length, union

WINDOW = "steps from the end of the last to the end of their kernels"
ROLES = ("kernel", "memcpy", "memset", "communication", "runtime", "data loader", "CPU operators", "other", "total")
OCCUPANCY_SQL = "SELECT id, blocks_per_sm, occupancy_pct FROM launch_config"


class Steps(Trees):
    @lru_cache(maxsize=None)
    def windows(self, rules):
        """[(name, begin, end)] of each step: ours from its first kernel's start to its last kernel's end."""
        if WINDOW not in rules:
            return [(name.removeprefix("ProfilerStep#"), self.time(begin, rules), self.time(end, rules))
                    for name, begin, end in self.index.rows(
                        "SELECT name, gpu_ts, gpu_ts_end FROM steps WHERE name GLOB 'ProfilerStep#*' AND gpu_ts IS NOT NULL")]
        steps = [(node.name.removeprefix("ProfilerStep#"), node.begin, node.end) for node in self.hosts(rules)
                 if node.kind == "step"]
        spans, counts, matched = self.device_spans(steps, rules)
        last = steps[0][1]
        if spans[0]:
            last = max([last] + [work.end for work in self.work(rules) if id(work) not in matched and work.end < spans[0][0]])
        windows = []
        for (name, begin, end), span in zip(steps, spans):
            begin = max(last, begin)
            end = max(end, begin) if span is None else max(end, span[1], begin)
            windows.append((name, begin, end))
            last = end
        return windows[:self.kept(counts)]

    def device_spans(self, steps, rules):
        """Of each step: (first start, last end) of what calls inside it launched, and how many that is."""
        spans, counts, matched = [None] * len(steps), [0] * len(steps), set()
        at = 0
        calls = iter(sorted(self.runtime_calls(rules).values(), key=lambda call: call.begin))
        call = next(calls, None)
        while at < len(steps) and call is not None:
            _, begin, end = steps[at]
            if call.begin >= end and not call.end <= end:
                at += 1
                continue
            if call.begin >= begin and call.end <= end and call.work:
                times = [(work.begin, work.end) for work in call.work] + ([spans[at]] if spans[at] else [])
                spans[at] = min(t[0] for t in times), max(t[1] for t in times)
                counts[at] += len(call.work)
                matched.update(map(id, call.work))
            call = next(calls, None)
        return spans, counts, matched

    @staticmethod
    def kept(counts):
        """Steps at the end that launched nothing, or much less than the one before, are dropped."""
        last = max((i for i, count in enumerate(counts) if count), default=len(counts) - 1)
        if last > 0 and counts[last - 1] * 0.8 > counts[last]:
            return last
        return last + 1

    @lru_cache(maxsize=None)
    def roles(self, rules):
        """Merged intervals of each role but the last two."""
        found = [[] for _ in ROLES[:-2]]
        collectives = {node.external for node in self.hosts(rules) if node.name in COLLECTIVES and node.external}
        place = {"memcpy": 1, "memset": 2}
        for work in self.work(rules):
            at = place.get(work.kind, 3 if work.external in collectives else 0)
            found[at].append((work.begin, work.end))
        found[4] = [(call.begin, call.end) for call in self.runtime_calls(rules).values()]
        for node in self.hosts(rules):
            if node.name.startswith("enumerate(DataLoader)#") and node.name.endswith(".__next__"):
                found[5].append((node.begin, node.end))
            elif node.name in COLLECTIVES:
                found[3].append((node.begin, node.end))
            elif node.kind in ("op", "optimizer"):
                found[6].append((node.begin, node.end))
        for ts, dur, name, _, _, kind in self.index.rows(ANNOTATION_SQL):
            if self.annotation_kind(name) is None and (kind == "user" or IMAGES in rules):
                begin = self.time(ts, rules)
                found[6].append((begin, begin + dur / 1000))
        return [union(intervals) for intervals in found]

    @lru_cache(maxsize=None)
    def costs(self, rules):
        """Of each step, the microseconds of each role; an earlier role takes the time from the later ones."""
        out = []
        for name, begin, end in self.windows(rules):
            taken, row, before = [], [], 0.0
            for intervals in self.roles(rules):
                taken = union(taken + clip(intervals, begin, end))
                row.append(length(taken) - before)
                before = length(taken)
            out.append((name, row + [end - begin - before, end - begin]))
        return out

    @lru_cache(maxsize=None)
    def overlaps(self, rules):
        out = []
        for name, begin, end in self.windows(rules):
            roles = self.roles(rules)
            computing, communicating = clip(roles[0], begin, end), clip(roles[3], begin, end)
            both = length(computing) + length(communicating) - length(union(computing + communicating))
            out.append((name, {"comp": length(computing), "comm": length(communicating), "ov": both,
                               "other": end - begin + both - length(computing) - length(communicating)}))
        return out

    @lru_cache(maxsize=None)
    def device_figures(self, rules):
        """{device: utilisation, SM efficiency, occupancy} from the first to the last step."""
        windows = self.windows(rules)
        if not windows:
            return {}
        begin, end = windows[0][1], windows[-1][2]
        shape = {row[0]: row[1:] for row in self.index.rows(OCCUPANCY_SQL)}
        out = {}
        for device in {work.device_number for work in self.work(rules)}:
            kernels = [w for w in self.work(rules) if w.kind == "kernel" and w.device_number == device]
            inside = [(min(w.end, end) - max(w.begin, begin), w) for w in kernels]
            inside = [(length, w) for length, w in inside if length > 0]
            busy = length(clip(union((w.begin, w.end) for w in kernels), begin, end))
            known = [(length, shape[w.config][1]) for length, w in inside
                     if w.config in shape and shape[w.config][1] is not None]
            out[device] = {
                "util": busy / (end - begin), "sm": self.efficiency(kernels, shape, begin, end),
                "occ": sum(l * o for l, o in known) / sum(l for l, _ in known) if known else None}
        return out

    @staticmethod
    def efficiency(kernels, shape, begin, end):
        """Blocks per SM of all that run, at most 1, over the time of the steps."""
        edges = []
        for work in kernels:
            blocks = shape.get(work.config, (None, None))[0]
            if blocks:
                edges += [(work.begin, 0, blocks), (work.end, 1, -blocks)]
        if not edges:
            return None
        edges.sort(key=lambda edge: edge[:2])
        running = weighted = 0.0
        for (at, _, change), after in zip(edges, edges[1:]):
            running += change
            length = min(after[0], end) - max(at, begin)
            if length > 0 and running > 0:
                weighted += min(running, 1.0) * length
        return weighted / (end - begin)


def clip(intervals, begin, end):
    return [(max(a, begin), min(b, end)) for a, b in intervals if a < end and b > begin]
