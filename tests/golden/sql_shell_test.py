"""Without a statement, on a terminal, trace-query sql is the shell sqlite3 with the functions and tables of the passes, and
cannot write."""
import os
import re
import select
import shutil

from trace_cases import Skip, equal, ingest, make_trace, program, refused, require

PATIENCE = 60  # seconds without a byte: something hangs


def typed(words, lines):
    """What the shell prints until it ends, and its exit code."""
    try:
        import pty
        pid, terminal = pty.fork()
    except (ImportError, OSError) as error:
        raise Skip(f"no pseudo terminal: {error}") from error
    if pid == 0:
        os.execve(program("trace-query"), ["trace-query", "sql", *map(str, words)], {**os.environ, "TERM": "dumb"})
    os.write(terminal, lines.encode())
    found = b""
    while select.select([terminal], [], [], PATIENCE)[0]:
        try:
            data = os.read(terminal, 4096)
        except OSError:
            break
        if not data:
            break
        found += data
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", found.decode(errors="replace")), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def check_shell(_folder, index):
    if shutil.which("sqlite3") is None:
        raise Skip("no sqlite3")
    said, code = typed([index, index], "SELECT human_ns(1500000) AS t;\nSELECT count(*) > 0 AS has_gaps FROM gaps_by_cause;\n"
                       "SELECT count(*) AS complete FROM b.meta WHERE key = 'complete';\nDELETE FROM kernel;\n"
                       "CREATE TABLE b.x(y);\n.quit\n")
    require("1.500 ms" in said, said)
    require(re.search(r"has_gaps.*\b1\b", said, re.S) and re.search(r"complete.*\b1\b", said, re.S), said)
    equal(said.count("readonly database"), 2, said)
    equal(code, 1, "exit code of sqlite3 where statements failed")


def check_words(_folder, index):
    """What the shell cannot obey is refused, and a schema may have any name."""
    for words in (("--phase", "decode"), ("--csv",), ("--plan",)):
        said, code = typed([*words, index], "")
        equal((code, f"{words[0]} needs a statement" in said), (2, True), said)
    said, _ = typed([f"x={index}", f"order={index}"], 'SELECT count(*) AS complete FROM "order".meta WHERE key = \'complete\';\n.quit\n')
    require("syntax error" not in said and re.search(r"complete.*\b1\b", said, re.S), said)


def check_without_shell(folder, index):
    """Where sqlite3 is not installed."""
    path, os.environ["PATH"] = os.environ["PATH"], str(folder)
    try:
        said, code = typed([index], "")
    finally:
        os.environ["PATH"] = path
    require("not installed" in said, said)
    equal(code, 2, "exit code")


def check_no_terminal(_folder, index):
    refused(2, "", "trace-query", "sql", index)


def main(cases, folder):
    index = ingest(make_trace(folder / "trace.json", "--layers", 2, "--steps", 3, "--truth", os.devnull),
                   folder / "index.tracedb")
    cases.each((check_shell, check_words, check_without_shell, check_no_terminal), folder, index)
