"""Figures of traces with unusual durations: averages are over what is known, and no sum is too large to be answered."""
from made_events import index_of, kernel, on_device
from trace_cases import equal, rows, run

LARGEST = 2**63 - 1
HUGE_US = LARGEST // 2 // 1000  # two of them fit, three do not
COMMANDS = ("info", "kernels", "memcpys", "issues", "verify")


def copy(ts, dur, size):
    return on_device("gpu_memcpy", "Memcpy HtoD", ts, dur, bytes=size)


def unknown_durations(folder):
    index = index_of(folder / "t.json", [kernel("k", 0, 10), kernel("k", 1, 14), kernel("k", 2, -1), kernel("k", 3, -1),
                                         kernel("none", 4, -1), copy(5, 6, 100), copy(6, -1, 300)])
    whole, selected = rows("kernels", index), rows("kernels", "--name", "*", index)
    for report in (whole, selected):
        first, second = report
        equal([first[key] for key in ("instances", "total_time", "avg", "med", "min", "max")],
              [4, 24000, 12000, 12000, 10000, 14000], "figures of k")
        equal(round(first["stddev"], 3), 2828.427, "deviation of k")
        equal([second[key] for key in ("instances", "total_time", "avg", "stddev")], [1, 0, None, None], "unknown")
    equal(rows("kernels", "--limit", "1", "--sort", "name", index)[1]["avg"], 12000, "mean of [others]")
    stats = rows("sql", index, "SELECT avg, known, round(sqrt(variance), 3) AS s FROM kernel_stats ORDER BY name")
    equal([list(row.values()) for row in stats], [[12000, 2, 2828.427], [None, 0, None]], "kernel_stats")
    copies = rows("memcpys", index)[0]
    equal([copies[key] for key in ("instances", "avg", "bytes", "avg_bytes")], [2, 6000, 400, 200], "copies")
    equal(round(copies["gb_per_s"], 6), round(100 / 6000, 6), "bandwidth, where size and time are known")


def huge_durations(folder):
    index = index_of(folder / "t.json", [kernel(name, i + 1, HUGE_US) for i, name in enumerate("aabbc")]
                     + [copy(i, HUGE_US, LARGEST) for i in range(3)])
    for command in COMMANDS:
        run("trace-query", command, index)
    for options in ((), ("--name", "*")):
        report = rows("kernels", *options, index)
        equal([row["total_time"] for row in report], [2 * HUGE_US * 1000] * 2 + [HUGE_US * 1000], "totals")
        equal(round(sum(row["time_pct"] for row in report), 6), 100, "shares")
        run("trace-query", "kernels", "--limit", "1", *options, index)
    equal(rows("kernels", "--limit", "1", index)[1]["total_time"], LARGEST, "total of [others], cut at 2^63 - 1")
    equal([rows("memcpys", index)[0][key] for key in ("total_time", "bytes")], [LARGEST] * 2, "copies")
    equal(len(rows("sql", index, "SELECT * FROM kernel_stats")), 3, "kernel_stats")


def numbers_of_devices(folder):
    """A device has the number that the profiler gave it, whatever that is: it sizes nothing."""
    for number in (-1, 2**20 + 1, 2**31, 2**40):
        events = [kernel("k", i, 1) for i in range(6)] + [kernel("k", 9, 2, device=number)]
        index = index_of(folder / f"{number}.json", events)
        found = {str(row["device"]): row["busy"] for row in rows("timeline", index)}
        equal([found["0"], found[str(number)]], [6000, 2000], f"busy time of devices 0 and {number}")
        for command in COMMANDS:
            run("trace-query", command, index)
        run("trace-query", "compare", index, index_of(folder / f"{number}_other.json", events[:-1]))


def main(cases, _):
    cases.each_apart((unknown_durations, huge_durations, numbers_of_devices))
