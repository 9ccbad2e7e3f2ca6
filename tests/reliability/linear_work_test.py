"""Hostile shapes (support/hostile_shapes.py) cost ingest work in proportion to their size. Valgrind counts the blocks of
instructions that run, so that neither the machine nor its load plays a part; counting instructions would take it longer.
Ten times the input may take 13 times the work, as n log n does: four times as much then takes 4.7 times the work, and
what is quadratic up to 16 times.

TRACEDB_LONG=1 takes all shapes, else those that a quadratic search was found with."""
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import hostile_shapes
from trace_cases import changing, installed, make_trace, program, require, run

SMALL = 3000
LARGE = 4 * SMALL
MOST = 4.7
FOUND = ("phases", "processes", "one_correlation", "one_correlation_many_devices", "operators_over_launches",
         "operators_at_one_time", "flows_to_one_time", "flows_of_one_correlation", "graph_launches_and_threads",
         "begin_end_crossed", "ends_without_begin", "python_frames", "python_parents_not_open", "steps_nested",
         "steps_of_threads", "images_on_one_stream", "backward_flows_at_one_time", "notes_over_launches",
         "listed_and_used_devices", "damage_and_names")


# Openings that nothing closes, over and over: the end of the trace is that of each.
UNCLOSED = ('{"a":', '{"a":1,', '{"a":[', '{"a":{"b":[[', '{"a":[{"ph":"X"},', '{"ph":"X","args":{', '{"ph":"X",', "[", "{")
MOST_UNCLOSED = 5.5  # of MOST: what is larger than 64 KB, as only the larger ones are, is walked over once more
MOST_A_BYTE = 50  # times as much as an ordinary trace: blocks of instructions, of which CPU time shows half


def unclosed(unit):
    def write(n, path):
        path.write_text('{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","ts":1,"dur":1},' + unit * n)
    return write


def many_tables(n, path):
    with changing(path) as database:
        database.execute("CREATE TABLE rocpd_info_node (id)")
        for i in range(n // 10):
            database.execute(f"CREATE TABLE rocpd_region_{i} (id, start, \"end\", pid, tid, name_id)")
        database.execute("INSERT INTO rocpd_region_0 VALUES (1, 1, 2, 3, 4, 5)")


def threads_that_take_turns(n, path):
    """On n threads 20 operators each, with gaps in which the others work."""
    events = [f'{{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":{tid + 1},"ts":{i * 1000 + tid * 37 % 900},"dur":{20 + tid % 60}}}'
              for tid in range(n) for i in range(20)]
    events += [f'{{"ph":"X","cat":"{category}","name":"k","pid":1,"tid":1,"ts":{ts},"dur":9,"args":{{"correlation":1}}}}'
               for category, ts in (("cuda_runtime", 19001), ("kernel", 30000))]
    path.write_text('{"traceEvents":[' + ",".join(events) + "]}")


def blocks_of(command):
    # Valgrind looks for events once a block, and tells how often. It translates less where it joins no blocks across jumps.
    result = subprocess.run(["valgrind", "--tool=none", "--stats=yes", "--vex-guest-chase=no",
                             "--vex-iropt-register-updates=sp-at-mem-access", *command], capture_output=True, text=True)
    require(result.returncode in (0, 3), f"rc {result.returncode}: {result.stderr[-300:]}")
    return int(re.search(r"scheduler: ([\d,]+) event checks", result.stderr)[1].replace(",", ""))


def blocks(folder, name, n, write=None):
    trace = folder / f"{abs(hash(name))}.{n}.json"
    write(n, trace) if write else hostile_shapes.write(name, n, trace)
    return blocks_of([program("trace-ingest"), "-q", "--threads", "1", "-o", f"{trace}.tracedb", str(trace)])


def is_linear_in_threads(folder):
    """What-ifs on many threads: asked of each gap of each about all others, four times the threads would be 16 times the work."""
    def work(n):
        trace, index = folder / f"threads.{n}.json", folder / f"threads.{n}.tracedb"
        threads_that_take_turns(n, trace)
        run("trace-ingest", "-q", "-o", index, trace)
        return blocks_of([program("trace-query"), "critical-path", "--what-if", "comm:0", str(index)])
    nothing, small, large = (work(n) for n in (1, 100, 400))
    require(large - nothing <= MOST * (small - nothing), f"4 times the threads, {(large - nothing) / (small - nothing):.1f} times the work")


def is_linear(folder, name, nothing, write=None, most=MOST):
    small, large = (blocks(folder, name, n, write) - nothing for n in (SMALL, LARGE))
    require(large <= most * small, f"{LARGE // SMALL} times the input, {large / small:.1f} times the work")
    return large


def is_cheap(folder, unit, nothing, ordinary):
    """Linear, and not too much for a byte."""
    a_byte = is_linear(folder, unit, nothing, unclosed(unit), MOST_UNCLOSED) / (LARGE * len(unit))
    require(a_byte <= MOST_A_BYTE * ordinary, f"{a_byte / ordinary:.0f} times the work of an ordinary byte")


def main(cases, folder):
    installed("valgrind")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        nothing = blocks(folder, "kernels_at_one_time", 1)  # what every run costs
        names = list(hostile_shapes.SHAPES) if os.environ.get("TRACEDB_LONG") else FOUND
        trace = folder / "ordinary.json"
        make_trace(trace, "--layers", 4, "--steps", 8, "--truth", os.devnull)
        ordinary = (blocks(folder, "ordinary", 0, lambda _, path: shutil.copy(trace, path)) - nothing) / trace.stat().st_size
        cases.run("many threads", is_linear_in_threads, folder)
        cases.run("many tables", is_linear, folder, "tables", nothing, many_tables)
        opened = blocks(folder, "unclosed", 0, unclosed(""))  # `nothing` differs by as much as few openings cost
        for unit, result in [(unit, pool.submit(is_cheap, folder, unit, opened, ordinary)) for unit in UNCLOSED]:
            cases.run(f"unclosed {unit}", result.result)
        for name, result in [(name, pool.submit(is_linear, folder, name, nothing)) for name in names]:
            cases.run(name, result.result)
