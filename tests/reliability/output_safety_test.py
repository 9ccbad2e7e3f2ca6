"""No option that names a file to write replaces a trace, an index or anything else that the same command line names:
one line, exit code 2, every byte as before. The options are read from --help, so that a new one is tested too. With
trace-query -o FILE the name has what it had, or all of the answer; what is no regular file is written as it is."""
import os
import re
import resource
import shutil
import subprocess
import time
from pathlib import Path

from index_folder import trace_file
from trace_cases import equal, program, require, run

OUTPUT = re.compile(r"^\s+(?:-\w \[ )?--([\w-]+)(?: \])? FILE\b", re.M)
COMMAND = re.compile(r"^  (\w+) +\S", re.M)
# What a command needs besides a trace to come as far as its output.
ARGUMENTS = {"compare": ["TRACE"], "align": ["TRACE"], "fusion": ["TRACE"], "sql": ["SELECT 1"], "rules": ["show"]}


def outputs():
    """(program, command or "", option) of every option that takes the name of an output."""
    text = run("trace-query", "--help").stdout
    commands = COMMAND.findall(text[text.index("Commands:"):text.index("'trace-query COMMAND")])
    found = [("trace-ingest", "", name) for name in OUTPUT.findall(run("trace-ingest", "--help").stdout)]
    for command in commands:
        help_text = run("trace-query", command, "--help").stdout
        found += [("trace-query", command, name) for name in OUTPUT.findall(help_text)]
    return found


def state(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def refused(folder, command, what):
    before = state(folder)
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=folder, timeout=60)
    equal(result.returncode, 2, f"{what}: exit code ({result.stderr!r})")
    equal(len(result.stderr.splitlines()), 1, f"{what}: lines ({result.stderr!r})")
    equal(state(folder), before, f"{what}: files")


def prepared(folder):
    for name in ("a.json", "b.json"):
        trace_file(folder / name)
    run("trace-ingest", "-q", folder / "a.json", folder / "b.json")
    shutil.copy(folder / "a.json", folder / "other.trace")
    subprocess.run(["gzip", "-k", "other.trace"], cwd=folder, check=True)
    (folder / "link").symlink_to("a.json")
    os.link(folder / "b.json", folder / "hard")


def command_line(name, command, option, target, trace):
    words = [program(name)] + ([command] if command else [])
    more = [str(trace) if word == "TRACE" else word for word in ARGUMENTS.get(command, [])]
    if command == "rules":
        return [*words, *more, f"--{option}", target, trace]
    return [*words, f"--{option}", target, trace, *more]


def every_option(folder):
    prepared(folder)
    found = outputs()
    require({("trace-ingest", "", "output"), ("trace-ingest", "", "summary"), ("trace-query", "info", "output"),
             ("trace-query", "compare", "save-baseline")} <= set(found), f"--help shows other outputs: {found}")
    for name, command, option in found:
        takes_index = name == "trace-ingest" and option == "output"
        targets = ["a.json", "link", "hard", "b.json", "other.trace", "other.trace.gz"]
        for target in targets + ([] if takes_index else ["b.json.tracedb", "new.tracedb"]):
            refused(folder, command_line(name, command, option, target, "a.json"), f"{name} {command} --{option} {target}")
        if command not in ("schema", "rules"):  # these take no trace, or not only
            refused(folder, [program(name), *([command] if command else []), f"--{option}", "a.json"],
                    f"{name} {command} --{option} without a trace")


def whatever_else_is_named(folder):
    prepared(folder)
    (folder / "mine.rules").write_text("include default\n")
    (folder / "words.sql").write_text("SELECT 1")
    (folder / "list").write_text("a.json\n")
    query, ingest = program("trace-query"), program("trace-ingest")
    for words in ([query, "kernels", "-o", "mine.rules", "--rules", "mine.rules", "a.json"],
                  [query, "sql", "-o", "words.sql", "-f", "words.sql", "a.json"],
                  [query, "compare", "a.json", "--save-baseline", "x", "-o", "x"],
                  [query, "compare", "a.json", "--save-baseline", "x", "-o", "./x"],
                  [ingest, "--summary", "list", "--files-from", "list"],
                  [ingest, "--summary", "x", "-o", "x", "a.json"],
                  [ingest, "--force", "-o", "b.json", "a.json"],
                  [ingest, "--stats", "--summary", "a.json", "."]):
        refused(folder, words, " ".join(words[1:]))


def what_may_be_replaced(folder):
    prepared(folder)
    for format_name in ("csv", "json", "jsonl", "table", "markdown"):
        for _ in range(2):
            run("trace-query", "kernels", "--format", format_name, "-o", folder / "report", folder / "a.json")
        run("trace-query", "info", "-o", folder / "report", folder / "a.json")
    for _ in range(2):
        run("trace-ingest", "-q", "--force", "-o", folder / "new.tracedb", "--summary", folder / "summary", folder / "a.json")
        run("trace-query", "compare", folder / "a.json", "--save-baseline", folder / "baseline.json")
    (folder / "notes.txt").write_text("what to do\n")
    run("trace-query", "kernels", "-o", folder / "notes.txt", folder / "a.json")
    equal(run("trace-query", "kernels", "-o", "/dev/stdout", folder / "a.json").returncode, 0, "/dev/stdout")


LONG = "SELECT 'row'; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
OLD = "what was there before\n"


def prepared_file(folder):
    trace_file(folder / "a.json")
    run("trace-ingest", "-q", folder / "a.json")
    index, out = folder / "a.json.tracedb", folder / "out.csv"
    out.write_text(OLD)
    return index, out, run("trace-query", "kernels", "--csv", index).stdout


def unchanged(folder, out, what):
    equal(out.read_text(), OLD, f"{what}: content")
    equal(sorted(os.listdir(folder)), ["a.json", "a.json.tracedb", "out.csv"], f"{what}: files")


def replaced(folder):
    index, out, answer = prepared_file(folder)
    out.chmod(0o604)
    run("trace-query", "kernels", "--csv", "-o", out, index)
    equal((out.read_text(), out.stat().st_mode & 0o777), (answer, 0o604), "content and rights")
    run("trace-query", "kernels", "--csv", "-o", folder / "new.csv", index)
    (folder / "plain").touch()
    equal((folder / "new.csv").read_text(), answer, "content of a new file")
    equal((folder / "new.csv").stat().st_mode, (folder / "plain").stat().st_mode, "rights of a new file")
    run("trace-query", "kernels", "--csv", "-o", "here.csv", index, cwd=folder)
    equal((folder / "here.csv").read_text(), answer, "content of a name without a folder")


def failures(folder):
    index, out, _ = prepared_file(folder)
    run("trace-query", "sql", "-o", out, index, "SELECT 1; SELECT nothing FROM nowhere", code=2)
    unchanged(folder, out, "wrong SQL")
    everything = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT i FROM n"
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))  # noqa: E731
    result = run("trace-query", "sql", "-o", out, index, everything, preexec_fn=limit, code=5)
    equal(len(result.stderr.splitlines()), 1, f"lines ({result.stderr})")
    unchanged(folder, out, "no room")
    run("trace-query", "info", "-o", folder / "none/out", index, code=5)


def killed(folder):
    index, out, _ = prepared_file(folder)
    process = subprocess.Popen([program("trace-query"), "sql", "-o", str(out), str(index), LONG])
    time.sleep(0.5)
    require(process.poll() is None, "the query without an end has ended")
    process.kill()
    process.wait()
    unchanged(folder, out, "killed")


def links(folder):
    index, out, answer = prepared_file(folder)
    (folder / "link").symlink_to("out.csv")
    (folder / "dangling").symlink_to("made.csv")
    for name, target in (("link", out), ("dangling", folder / "made.csv")):
        run("trace-query", "kernels", "--csv", "-o", folder / name, index)
        require((folder / name).is_symlink(), f"{name}: is no link any more")
        equal(target.read_text(), answer, f"{name}: content")


def no_regular_files(folder):
    index, _, answer = prepared_file(folder)
    equal(run("trace-query", "kernels", "--csv", "-o", "/dev/stdout", index).stdout, answer, "/dev/stdout")
    run("trace-query", "kernels", "--csv", "-o", "/dev/null", index)
    require(not Path("/dev/null").is_file(), "/dev/null was replaced")
    os.mkfifo(folder / "pipe")
    reader = subprocess.Popen(["cat", str(folder / "pipe")], stdout=subprocess.PIPE, text=True)
    run("trace-query", "kernels", "--csv", "-o", folder / "pipe", index)
    equal(reader.communicate(timeout=60)[0], answer, "a FIFO")


def main(cases, _):
    cases.each_apart((every_option, whatever_else_is_named, what_may_be_replaced, replaced, failures, killed, links,
                      no_regular_files))
