"""What every report prints on a terminal of 120 columns, and six also of 80 and 160, of made traces, against
tests/golden/terminal/*.

`python3 tests golden.terminal_tables --update` writes what is printed now; look at the differences before they are committed."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import unicodedata
from pathlib import Path

from stored_texts import check_stored, store
from trace_cases import Skip, ingest, make_trace, program, require, run

EXPECTED = Path(__file__).resolve().parent / "terminal"
WIDTHS = (80, 120, 160)  # of SEVERAL; the others have the one between
SEVERAL = ("kernels", "steps", "timeline", "info", "compare", "ranks")
LIMIT = ("--limit", 8)
TILES = ("--tiles", 2, "--iterations", 3, "--kernels", 4)
SERVER = ("--layers", 2, "--steps", 6, "--mix", "P,D*5", "--batch", 8, "--tensor-parallel", 2, "--streams", 3)
TRACES = {
    "server": (*SERVER, "--vendor", "nvidia", "--seed", 5),
    "other": (*SERVER, "--vendor", "amd", "--seed", 6, "--fuse", "rope+kvcache,add+rmsnorm",
              "--slow", "attention_decode@0=2"),
    "training": ("--model", "train", "--layers", 2, "--steps", 3, "--seed", 7),
}
QUERY = "SELECT name, count(*) AS n, sum(dur) AS ns FROM kernels GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 5"
# What stands behind trace-query; the index of the server comes last where none is named.
REPORTS = {
    "kernels": ("kernels", *LIMIT), "ops": ("ops", *LIMIT), "phases": ("phases",), "steps": ("steps", *LIMIT),
    "layers": ("layers", *LIMIT), "timeline": ("timeline",), "gaps": ("gaps", *LIMIT),
    "gaps_each": ("gaps", "--each", *LIMIT), "launches": ("launches", *LIMIT),
    "comms": ("comms", *LIMIT), "memcpys": ("memcpys", *LIMIT), "stacks": ("stacks", *LIMIT),
    "stacks_modules": ("stacks", "--modules", *LIMIT), "stacks_by_module": ("stacks", "--by", "module", *LIMIT),
    "stacks_by_line": ("stacks", "--by", "line", *LIMIT),
    "sequences": ("sequences", *LIMIT), "warnings": ("warnings",), "issues": ("issues",), "info": ("info",),
    "sql": ("sql", "server.tracedb", QUERY), "sql_narrow": ("sql", "server.tracedb", "SELECT * FROM kernels LIMIT 3"),
    "timeline_streams": ("timeline", "--per-stream"), "layers_per_op": ("layers", "--per-op", *LIMIT),
    "layers_per_role": ("layers", "--per-role", *LIMIT), "ops_by_role": ("ops", "--by", "role", *LIMIT),
    "kernels_by_pass": ("kernels", "--by", "pass", *LIMIT, "training.tracedb"),
    "rules_show": ("rules", "show", *LIMIT), "rules_list": ("rules", "list", *LIMIT, "--rules", "wafer"),
    "verify": ("verify",), "schema": ("schema", "--object", "collectives", "server.tracedb"),
    "nothing": ("kernels", "--name", "nothing of this name"), "one_row": ("kernels", "--name", "ncclDevKernel_AllReduce*"),
    "help": ("help", "comms"), "aie": ("aie", *LIMIT, "aie.tracedb"),
    "training": ("steps", "training.tracedb"), "training_ops": ("ops", *LIMIT, "training.tracedb"),
    "compare": ("compare", "--section", "all", *LIMIT, "server.tracedb", "other.tracedb"),
    "align": ("align", *LIMIT, "server.tracedb", "other.tracedb"),
    "fusion": ("fusion", *LIMIT, "server.tracedb", "other.tracedb"),
    "ranks": ("ranks", *LIMIT, *(f"late/rank{rank}.tracedb" for rank in range(4))),
    "ranks_baseline": ("ranks", "--section", "compare", *(f"late/rank{rank}.tracedb" for rank in range(4)), "--baseline",
                       "calm"),
    "ls": ("ls", *LIMIT, "server.tracedb", "other.tracedb", "training.tracedb"),
    "trend": ("trend", *LIMIT, "server.tracedb", "other.tracedb", "training.tracedb"),
}
WITHOUT_INPUT = ("rules_list", "help")
NARROW = (20, 40, 60)


def has_terminals():
    """False in a container without pseudo-terminals (/dev/pts)."""
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def on_terminal(width, folder, *arguments):
    """What trace-query prints on a terminal of that width, without colours."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "xterm"}
    text = bytearray()
    with subprocess.Popen([program("trace-query"), *map(str, arguments)], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, stdout=its, stderr=subprocess.DEVNULL) as process:
        os.close(its)
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux, when the other end is closed
                break
            if not part:
                break
            text += part
    os.close(ours)
    require(process.returncode == 0, f"{' '.join(map(str, arguments))}: exit {process.returncode}")
    lines = text.decode("utf-8").replace("\r\n", "\n").splitlines(keepends=True)
    # The path of the trace is another one each time.
    return "".join(line for line in lines if not line.startswith("trace     source "))


def make_indexes(folder):
    for name, options in TRACES.items():
        ingest(make_trace(folder / f"{name}.json", *options), folder / f"{name}.tracedb")
    run("make-trace", "aie", *TILES, folder / "aie.json")
    ingest(folder / "aie.json", folder / "aie.tracedb")
    make_jobs(folder)


def make_jobs(folder):
    """Two jobs of four ranks, of which one is held up in one."""
    for name, options in {"calm": (), "late": ("--late", "2:compute:300000", "--clock-of", "1:2000000")}.items():
        run("make-trace", "job", "--steps", 12, "--layers", 2, *options, folder / name)
        for rank in range(4):
            ingest(folder / name / f"rank{rank}.json", folder / name / f"rank{rank}.tracedb")
            (folder / name / f"rank{rank}.json").unlink()


def answers(folder):
    """{file name: text}; inputs by relative names, so that no folder shows."""
    out = {}
    for name, command in REPORTS.items():
        named = name in WITHOUT_INPUT or any(str(word).endswith(".tracedb") for word in command)
        inputs = () if named else ("server.tracedb",)
        for width in WIDTHS if name in SEVERAL else WIDTHS[1:2]:
            out[f"{name}.{width}"] = on_terminal(width, folder, *command, *inputs)
    return out


def length(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def check_narrow(folder):
    """Whatever the width, and also where the width is not that of a terminal."""
    for name, command in REPORTS.items():
        if name in ("help", "compare", "info"):
            continue
        inputs = () if any(str(word).endswith(".tracedb") for word in command) else ("server.tracedb",)
        inputs = () if name in WITHOUT_INPUT else inputs
        for width in NARROW:
            check_width(width, run("trace-query", *command, "-q", "--width", width, *inputs, cwd=folder).stdout)


def check_where_width_is_from(folder):
    """A pipe has 160 characters, unless COLUMNS says otherwise; TRACEDB_COLUMNS goes before it, and --width before both."""
    def longest(*options, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.endswith("COLUMNS")}
        text = run("trace-query", "kernels", "-q", *options, "server.tracedb", cwd=folder, env={**environment, **variables})
        return max(map(length, text.stdout.splitlines()))

    require(longest("--wide") > longest("--width", "0") > 160, f"not longer: {longest('--wide')}, {longest('--width', '0')}")
    for most, options, variables in ((160, (), {}), (90, (), {"COLUMNS": "90"}), (160, (), {"COLUMNS": "wide"}),
                                     (70, (), {"COLUMNS": "90", "TRACEDB_COLUMNS": "70"}),
                                     (110, ("--width", "110"), {"COLUMNS": "90"})):
        found = longest(*options, **variables)
        require(most - 30 < found <= most, f"{options} {variables}: {found} characters")
    heads = run("trace-query", "kernels", "-q", "server.tracedb", cwd=folder,
                env={**os.environ, "TRACEDB_COLUMNS": "name,instances,unknown"}).stdout.split("\n")[0]
    require(heads.split() == ["Name", "Instances"], f"columns of TRACEDB_COLUMNS: {heads}")
    for option in ("--csv", "--json", "--markdown"):
        options = ("trace-query", "kernels", "-q", option, "server.tracedb")
        require(run(*options, cwd=folder, env={**os.environ, "COLUMNS": "30"}).stdout == run(*options, cwd=folder).stdout,
                f"COLUMNS changes {option}")


def check_names(folder):
    """Kernels that differ are shown by names that differ, at every width."""
    for width in (*NARROW, *WIDTHS):
        text = run("trace-query", "kernels", "-q", "--columns", "name", "--limit", "0", "--width", width, "server.tracedb",
                   cwd=folder).stdout
        names = text.splitlines()[2:]
        require(len(set(names)) == len(names) > 20, f"{width}: {len(names)} rows, {len(set(names))} names")


def check_notes(folder):
    """What is cut off is said once, also for several tables."""
    notes = run("trace-query", "compare", "--section", "alignment,ledger", "--by", "kernel", "server.tracedb", "other.tracedb",
                cwd=folder).stderr.splitlines()
    cut = [note for note in notes if "[others]" in note]
    require(len(cut) == 1 and "tables" in cut[0], f"notes: {notes}")
    require(len(set(notes)) == len(notes), f"a note is repeated: {notes}")


def check_sql_rows(folder):
    query = "SELECT id FROM kernels"
    for options, rows in (((), 30), (("-n", "7"), 7), (("--limit", "0"), None), (("--csv",), None)):
        result = run("trace-query", "sql", *options, "server.tracedb", query, cwd=folder)
        lines = len(result.stdout.splitlines()) - (1 if "--csv" in options else 2)
        require(lines == rows if rows else lines > 200, f"{options}: {lines} rows")
        require(("more row" in result.stderr) == bool(rows), f"{options}: {result.stderr}")


def check_width(width, text):
    wide = [line for line in text.splitlines() if length(line) > width]
    require(not wide, f"{len(wide)} lines do not fit: {wide[:2]}")


def main(cases, folder):
    if not has_terminals():
        raise Skip("no pseudo-terminals here (/dev/pts)")
    make_indexes(folder)
    found = answers(folder)
    if "--update" in sys.argv[1:]:
        return store(EXPECTED, found)
    cases.each((check_narrow, check_where_width_is_from, check_names, check_notes, check_sql_rows), folder)
    for name, text in found.items():
        cases.run(f"{name} fits", check_width, int(name.rpartition(".")[2]), text)
        cases.run(name, check_stored, EXPECTED / name, text)
