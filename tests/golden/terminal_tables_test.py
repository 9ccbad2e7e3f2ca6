"""What every report prints on a terminal of 80, 120 and 160 columns, of made traces, against tests/golden/terminal/*.

`terminal_tables_test.py --update` writes what is printed now; look at the differences before they are committed."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import unicodedata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from stored_texts import check_stored, store  # noqa: E402
from trace_cases import Cases, ingest, make_trace, program, require, scratch_folder  # noqa: E402

EXPECTED = Path(__file__).resolve().parent / "terminal"
WIDTHS = (80, 120, 160)
LIMIT = ("--limit", 8)
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
    "layers": ("layers", *LIMIT), "timeline": ("timeline",), "gaps": ("gaps", *LIMIT), "launches": ("launches", *LIMIT),
    "comms": ("comms", *LIMIT), "memcpys": ("memcpys", *LIMIT), "stacks": ("stacks", *LIMIT),
    "sequences": ("sequences", *LIMIT), "warnings": ("warnings",), "issues": ("issues",), "info": ("info",),
    "sql": ("sql", "server.tracedb", QUERY),
    "training": ("steps", "training.tracedb"), "training_ops": ("ops", *LIMIT, "training.tracedb"),
    "compare": ("compare", "--section", "all", *LIMIT, "server.tracedb", "other.tracedb"),
    "align": ("align", *LIMIT, "server.tracedb", "other.tracedb"),
    "fusion": ("fusion", *LIMIT, "server.tracedb", "other.tracedb"),
}


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


def answers(folder):
    """{file name: text}; inputs by relative names, so that no folder shows."""
    for name, options in TRACES.items():
        ingest(make_trace(folder / f"{name}.json", *options), folder / f"{name}.tracedb")
    out = {}
    for name, command in REPORTS.items():
        inputs = () if any(str(word).endswith(".tracedb") for word in command) else ("server.tracedb",)
        for width in WIDTHS:
            out[f"{name}.{width}"] = on_terminal(width, folder, *command, *inputs)
    return out


def check_width(width, text):
    wide = [line for line in text.splitlines()
            if sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) > width]
    require(not wide, f"{len(wide)} lines do not fit: {wide[:2]}")


def main():
    cases = Cases()
    if not has_terminals():
        cases.skip("tables of every report on a terminal", "no pseudo-terminals here (/dev/pts)")
        cases.finish()
    with scratch_folder() as folder:
        found = answers(folder)
    if "--update" in sys.argv[1:]:
        return store(EXPECTED, found)
    for name, text in found.items():
        cases.run(f"{name} fits", check_width, int(name.rpartition(".")[2]), text)
        cases.run(name, check_stored, EXPECTED / name, text)
    cases.finish()


if __name__ == "__main__":
    main()
