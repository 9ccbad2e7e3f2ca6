"""Kernel counts and sums of `trace-query kernels` against another tool's published summaries of the same traces."""
import csv
import io
import sys
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from trace_cases import (REFERENCE, TRACES, Cases, Skip, equal, ingest, require, run, scratch_folder,  # noqa: E402
                         skip_without_traces)

TOLERANCE_NS = Decimal(1)  # 0.001 us
csv.field_size_limit(1 << 20)


def reference_sums(path):
    """Their rows are one per parent operator and stream: add them up by kernel name. {name: (count, ns)}"""
    sums = defaultdict(lambda: [0, Decimal(0)])
    with open(path, newline="", encoding="utf-8-sig") as file:
        for row in csv.DictReader(file):
            total = sums[row["Kernel name"]]
            total[0] += int(Decimal(row["Kernel duration (µs)_count"]))
            total[1] += Decimal(row["Kernel duration (µs)_sum"]) * 1000
    return {name: tuple(total) for name, total in sums.items()}


def our_sums(index):
    text = run("trace-query", "kernels", "--format", "csv", "--limit", "0", "--timeunit", "ns", index).stdout
    rows = list(csv.reader(io.StringIO(text)))
    head = [column.lower() for column in rows[0]]
    name, instances = head.index("name"), head.index("instances")
    total = next(i for i, column in enumerate(head) if column.startswith("total time"))
    sums = {}
    for row in rows[1:]:
        require(row[name] not in sums, f"two rows for {row[name]!r}")
        sums[row[name]] = (int(row[instances]), Decimal(row[total]))
    return sums


def check(trace, reference, folder):
    if not trace.exists():
        raise Skip(f"{trace} does not exist")
    expected = reference_sums(reference)
    actual = our_sums(ingest(trace, folder / "index.tracedb"))
    missing = [name for name in expected if name not in actual]
    require(not missing, f"{len(missing)} kernel names are missing, e.g. {missing[:2]}")
    # Their summary leaves kernels out that belong to no category of theirs; every name they list must agree.
    for name, (count, total) in expected.items():
        equal(actual[name][0], count, f"instances of {name[:100]!r}")
        require(abs(actual[name][1] - total) <= TOLERANCE_NS,
                f"total of {name[:100]!r}: {actual[name][1]} ns, expected {total} ns")
    extra = sorted(set(actual) - set(expected))
    require(not extra, f"{len(extra)} kernel names they do not have, e.g. {extra[:2]}")


def main():
    cases = Cases()
    references = sorted((REFERENCE / "tracelens").glob("*.kernel_summary.csv"))
    if not references:
        cases.skip("tracelens", f"no summaries here: {REFERENCE / 'tracelens'} (TRACEDB_REFERENCE names the folder)")
    elif not skip_without_traces(cases, TRACES / "kineto"):
        for reference in references:
            name = reference.name.removesuffix(".kernel_summary.csv")
            with scratch_folder() as folder:
                cases.run(name, check, TRACES / "kineto" / f"{name}.json.gz", reference, folder)
    cases.finish()


if __name__ == "__main__":
    main()
