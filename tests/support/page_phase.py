"""The steps of one kind in both traces of a page: the two times of each reason, summed up from the raw traces."""
import itertools
import statistics

from page_raw import Account, mean
from page_text import stands_in
from trace_cases import require


def statistic(samples):
    """What a sentence about the steps of a kind is of."""
    return statistics.fmean(samples)


def communicates(op):
    return "communication" in op.split("+")


def places_of(label):
    """The places of a label: "0..11,13", "[head]"; an alignment of whole steps has all its rows in [no layer]."""
    out = set()
    for part in label.split(","):
        marks = {"[head]": "head", "[tail]": "tail", "[no layer]": None}
        first, _, last = part.partition("..")
        out |= {marks[part]} if part in marks else set(range(int(first), int(last or first) + 1))
    return out


def launcher_of(event):
    return (event.launcher or "").removeprefix("aten::")


# By what members of an operation are told apart, in the order of METRICS 10.
MEMBERS = (lambda event: " ".join(filter(None, (event.role, launcher_of(event)))), launcher_of, lambda event: event.role or "",
           lambda event: event.name)


class Phase:
    """The steps of one kind in both traces, and what the page's data says about them."""

    def __init__(self, name, data, raws):
        self.name, self.raws = name, raws
        self.rows = {key: [row for row in data[key] if row["phase"] == name]
                     for key in ("reasons", "fusion", "alignment", "verdict")}
        kinds = [{step.phase for step in raw.steps} for raw in raws]
        self.kinds = [name if name in own else "unknown" for own in kinds]
        self.accounts = [Account(raw, kind, communicates) for raw, kind in zip(raws, self.kinds)]
        self.by_period = all(account.periods for account in self.accounts)
        self.coarse = set()  # classes that kernels count as which do more, such as moe_gemm+activation
        self.fused = [{}, {}]  # by class: (time, number) of kernels that fusions take from it
        self.fusions = [self.check_fusion(row) for row in self.rows["fusion"]]

    def is_of(self, event_op, op):
        more = op in self.coarse and op in event_op.split("+")
        return event_op == op or event_op.startswith(op + "_") or more

    def own(self, row):
        """Whether an event is of the operation of a row, or of those of its members that changed as the row did."""
        def is_op(event):
            return self.is_of(event.op, row["op"])

        if not row.get("member"):
            return is_op
        named = set(row["member"].removesuffix(" and others").split(", "))
        for label in MEMBERS:
            labels = {label(event) for raw in self.raws for event in raw.kernels if is_op(event)}
            if not named <= labels and not (label is MEMBERS[-1] and all(any(stands_in(short, own) for own in labels) for short in named)):
                continue
            sums = {own: [account.of(lambda e: is_op(e) and label(e) == own)[0] for account in self.accounts] for own in labels}
            wanted = {own for own, (a, b) in sums.items() if b != a and (b > a) == (row["change"] > 0)}
            return lambda event: is_op(event) and label(event) in wanted
        raise AssertionError(f"no members {named} of {row['op']}")

    def totals(self):
        return [account.span + (account.between if self.by_period else 0) for account in self.accounts]

    def rest(self):
        """What the reasons that are part of the change leave of it."""
        parts = [self.change_of(row) for row in self.rows["reasons"] if row["cause"] != "transition"]
        a, b = self.totals()
        return b - a - sum(other - one for one, other in parts)

    def samples(self, side, measure):
        account = self.accounts[side]
        if measure.startswith("period to "):
            return [gap[1] - gap[2] for gap in account.gaps[self.kind_of(side, measure[len("period to "):])]]
        return account.periods if measure == "period" else account.spans

    def kind_of(self, side, name):
        return name if name in self.accounts[side].gaps else "unknown"

    def check_fusion(self, row):
        """(class, side that fuses, row) of a finding, whose times its kernels in the raw traces add up to."""
        side = int(row["fused_by"] == "candidate")
        places = places_of(row["layers"])
        fused = self.accounts[side].summed([row["fused_kernel"]], places, row["fused_time"])
        parts = self.accounts[1 - side].summed(row["part_kernels"].split(" + "), places, row["parts_time"])
        for own, sums in ((side, fused), (1 - side, parts)):
            for name, (time, number) in sums:
                op = next(event.op for event in self.accounts[own].raw.kernels if event.name == name)
                before = self.fused[own].get(op, (0, 0))
                self.fused[own][op] = before[0] + time, before[1] + number
        return row["fused_op"], side, row

    def fused_of(self, side, op):
        """(time, number) of the kernels of a class that are in rows of fusions."""
        return [sum(part[which] for own, part in self.fused[side].items() if self.is_of(own, op)) for which in (0, 1)]

    def change_of(self, row):
        """The two times of a row of the reasons."""
        cause = row["cause"]
        figures = {"idle": "idle", "copies": "copy", "between_steps": "between", "concurrency": "at_once"}
        if cause in figures:
            sign = -1 if cause == "concurrency" else 1
            return [sign * getattr(account, figures[cause]) for account in self.accounts]
        if cause == "transition":
            to = row["place"][len("[before "):-1]
            return [mean([gap[1] - gap[0] for gap in account.gaps[self.kind_of(side, to)]])
                    for side, account in enumerate(self.accounts)]
        if cause == "fusion":
            own = [entry for entry in self.fusions if self.is_of(entry[0], row["op"])]
            require(own, f"no fusion of {row['op']}")
            fused = [sum(entry[2]["fused_time" if entry[1] == side else "parts_time"] for entry in own) for side in (0, 1)]
            return fused
        require(cause in ("operation", "communication"), f"{cause}: not known to this test")
        return self.at_place(row)

    def at_place(self, row):
        """Of an operation or of communication, at its place; parts that are reasons of their own are no part of the rest,
        nor are those of head and tail that changed by too little to be said."""
        if row["place"]:
            places = places_of(row["place"])
            return [self.time_of(side, row, lambda place: place in places) for side in (0, 1)]
        split = [places_of(other["place"]) for other in self.rows["reasons"]
                 if (other["cause"], other["op"]) == (row["cause"], row["op"]) and other["place"]]
        without = set().union(*split)
        for coarse, some in itertools.product((set(), {row["op"]}), ((), ("head",), ("tail",), ("head", "tail"))):
            self.places, before = without.union(some), self.coarse
            self.coarse = before | coarse
            times = [self.time_of(side, row, lambda place: place not in self.places) for side in (0, 1)]
            if all(abs(time - row[key]) <= 1 for time, key in zip(times, ("baseline", "candidate"))):
                return times
            self.coarse = before
        return times

    def time_of(self, side, row, wanted):
        account = self.accounts[side]
        if row["cause"] == "communication":
            return sum(time for place, time in account.comm_at.items() if wanted(place))
        own = self.own(row)
        time, _ = account.of(lambda e: own(e) and wanted(e.place))
        return time - self.fused_of(side, row["op"])[0]
