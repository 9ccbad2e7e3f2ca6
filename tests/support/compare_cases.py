"""Shared by tests of `compare`: running it, and what must hold of every answer."""
import collections
import json

from trace_cases import equal, require, run

LEDGERS = ("op", "role", "layer", "layer,op", "layer,role", "kernel")
# What one side calls so, the other side calls so in a comparison the other way round.
MIRRORED = {"baseline": "candidate", "candidate": "baseline", "only baseline": "only candidate",
            "only candidate": "only baseline", "better": "worse", "worse": "better", "new": "gone", "gone": "new"}


def compare(*arguments):
    """{section: rows}, all rows, of two traces or more."""
    text = run("trace-query", "compare", "-q", "--json", "--limit", 0, *arguments).stdout
    return {section["section"]: section["rows"] for section in json.loads(text)["sections"]}


def mirrored_cell(value):
    if isinstance(value, str):
        return MIRRORED.get(value, value)
    return value


def negated(value):
    return None if value is None else 0 - value


def mirrored(rows):
    """The rows of a comparison the other way round; effects and ratios, which are not symmetric, are left out."""
    out = []
    for row in rows:
        other = {}
        for key, value in row.items():
            side = key.removeprefix("candidate_") if key.startswith("candidate") else key
            if key in ("ratio", "count_effect", "duration_effect", "share_pct"):
                continue
            if key in ("change", "low", "high"):
                other[{"low": "high", "high": "low"}.get(key, key)] = negated(value)
            elif key == "op" and "candidate_op" in row:
                other["candidate_op"] = value
            elif key == "candidate_op":
                other["op"] = value
            elif key.startswith("baseline"):
                other["candidate" + key.removeprefix("baseline")] = value
            elif key != side or key == "candidate":
                other["baseline" + key.removeprefix("candidate")] = value
            else:
                other[key] = mirrored_cell(value)
        out.append(other)
    return out


def plain(rows):
    return mirrored(mirrored(rows))


BETWEEN = ("[between steps]", "[no step, between steps]")
RARE = "[rare steps]"
TOTALS = ("[span]", "[period]", "[all steps]")
EFFECTS = ("change", "count_effect", "duration_effect")


def ledger_total(rows, item):
    """The row of a total; None where the phase has none."""
    found = [row for row in rows if row["item"] == item]
    require(len(found) <= 1, f"{len(found)} rows {item}")
    return found[0] if found else None


def check_closure(ledger):
    """Rows add up to the change of the span, and with what lies between steps to that of the period, to the nanosecond.
    Returns them by phase."""
    by_phase = collections.defaultdict(list)
    for row in ledger:
        equal(row["count_effect"] + row["duration_effect"], row["change"], f"effects of {row}")
        by_phase[row["phase"]].append(row)
    for phase, rows in by_phase.items():
        span, period, every = (ledger_total(rows, item) for item in TOTALS)
        inside = [row for row in rows if row["item"] not in (*BETWEEN, RARE, *TOTALS)]
        rare = [row for row in rows if row["item"] == RARE]
        equal(bool(rare), every is not None, f"{phase}: rare steps, and a total with them")
        if every:
            equal((period or span)["change"] + rare[0]["change"], every["change"], f"{phase}: all steps")
        between = [row for row in rows if row["item"] in BETWEEN]
        equal(bool(between), period is not None, f"{phase}: rows between steps, and a period")
        for key in EFFECTS:
            equal(sum(row[key] for row in inside), span[key], f"{phase}: {key} of the span")
            if period:
                equal(sum(row[key] for row in inside + between), period[key], f"{phase}: {key} of the period")
        for side in ("baseline", "candidate") if period else ():
            whole = span[side] + sum(row[side] for row in between)
            require(abs(whole - period[side]) <= 1e-9 * max(1, abs(whole)), f"{phase}: {whole} and {period[side]} ns")
            require(all(row[side] >= 0 for row in between), f"{phase}: signs of {between}")
    return by_phase


def check_mirror(there, back):
    for section in ("ledger", "operations", "layers", "roles", "kernels", "alignment", "fusion", "same-kernels", "steps",
                    "warnings"):
        here, mirror = comparable(section, plain(there[section])), comparable(section, mirrored(back[section]))
        equal(len(mirror), len(here), f"{section} the other way round: rows")
        for row, other in zip(here, mirror):
            equal(other, row, f"{section} the other way round")


def comparable(section, rows):
    """Rows of equal size may change places, and the text of a warning names one side before the other."""
    cells = [sorted((key, value) for key, value in row.items() if section != "warnings" or key != "text") for row in rows]
    return cells if section == "alignment" else sorted(cells, key=repr)


def check_unchanged(found):
    """What all sections say of a trace compared with itself."""
    equal(found["fusion"], [], "fusions in a trace against itself")
    for section in ("ledger", "operations", "layers", "roles", "kernels", "alignment", "steps"):
        require({row["change"] for row in found[section]} <= {0}, f"{section} of a trace against itself")
    for section in ("operations", "layers", "steps"):
        require({(row["low"], row["high"]) for row in found[section]} <= {(0, 0)}, f"{section}: intervals")
        require({row["verdict"] for row in found[section]} <= {"same", "inconclusive"}, f"{section}: verdicts")
    require({row["status"] for row in found["alignment"]} <= {"same kernel"}, "pairs of a trace against itself")
