"""The interactive shell of trace-query sql, through a pseudo terminal: statements over several lines, commands, completion,
Ctrl-C and Ctrl-D, history; what is refused elsewhere is refused here."""
import os
import re
import select
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from trace_cases import Cases, Skip, equal, ingest, make_trace, program, require, run, scratch_folder  # noqa: E402

PROMPT, MORE = "sql> ", "...> "
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\x07")
PATIENCE = 60  # seconds without a byte: something hangs


class Shell:
    def __init__(self, folder, *words, kind="xterm"):
        try:
            import pty
            self.pid, self.terminal = pty.fork()
        except (ImportError, OSError) as error:
            raise Skip(f"no pseudo terminal: {error}") from error
        if self.pid == 0:
            environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "TERM": kind, "COLUMNS": "200"}
            os.execve(program("trace-query"), ["trace-query", "sql", *map(str, words)], environment)
        self.banner = self.until(PROMPT)

    def until(self, text):
        """What is printed up to and with a text."""
        found = ""
        while not found.endswith(text):
            if not select.select([self.terminal], [], [], PATIENCE)[0]:
                raise AssertionError(f"nothing more after {found!r}, waiting for {text!r}")
            try:
                data = os.read(self.terminal, 4096)
            except OSError:
                data = b""
            if not data:
                raise AssertionError(f"ended after {found!r}, waiting for {text!r}")
            found = ESCAPES.sub("", found + data.decode(errors="replace"))
        return found

    def type(self, text, until=PROMPT):
        os.write(self.terminal, text.encode())
        return self.until(until)

    def wait_for_mode(self, editing):
        """Until a line is edited, or until that has ended: then Ctrl-C is a signal, no key."""
        import termios
        while bool(termios.tcgetattr(self.terminal)[3] & termios.ISIG) == editing:
            time.sleep(0.001)

    def end(self, text):
        """Types the last line; the exit code. A Ctrl-D typed while the terminal changes its mode is lost: then again."""
        for _ in range(120):
            os.write(self.terminal, text.encode())
            while select.select([self.terminal], [], [], PATIENCE / 120)[0]:
                try:
                    data = os.read(self.terminal, 4096)
                except OSError:
                    data = b""
                if not data:
                    return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.kill(self.pid, signal.SIGKILL)
        raise AssertionError(f"does not end after {text!r}")


def has_editing():
    return "command-line editing" in run("trace-query", "sql", "--help").stdout


def check_statements(folder, index):
    shell = Shell(folder, index)
    require(".help" in shell.banner, shell.banner)
    require("42" in shell.type("SELECT 40 + 2;\n"), "one line")
    shell.type("SELECT 'first'\n", MORE)
    shell.type("  || '; not the end'\n", MORE)
    require("first; not the end" in shell.type("AS x;\n"), "several lines")
    answer = shell.type("SELECT nam FROM kernels;\n")
    require("no such column: nam" in answer and "did you mean 'name'" in answer, answer)
    require("only reading" in shell.type("DELETE FROM kernel;\n") + shell.type("ATTACH 'x' AS y;\n"), "writing")
    require("too big" in shell.type("SELECT printf('%.*c', 2000000000, 'x');\n"), "a large text")
    require("not authorized" in shell.type("SELECT load_extension('x');\n"), "an extension")
    equal(shell.end(".quit\n"), 0, "exit code")


def check_commands(folder, index):
    shell = Shell(folder, index)
    require(".schema [TABLE]" in shell.type(".help\n"), "help")
    tables = shell.type(".tables\n")
    require(all(name in tables for name in ("kernels", "gaps_by_cause", "all_kernels", "launch_config")), tables)
    schema = shell.type(".schema kernels\n")
    require("queue" in schema or "occupancy_pct" in schema, schema)
    require("role" in shell.type(".schema all_kernels\n"), "of all")
    require("did you mean 'kernels'" in shell.type(".schema kernelss\n"), "a wrong table")
    shell.type(".mode csv\n")
    require("a,b" in shell.type("SELECT 1 a, 2 b;\n"), "csv")
    require("no mode 'cvs'; did you mean 'csv'" in shell.type(".mode cvs\n"), "a wrong mode")
    shell.type(".mode json\n")
    require('"tracedb.sql/1"' in shell.type("SELECT 1 a;\n"), "json")
    shell.type(".mode table\n")
    shell.type(".timer on\n")
    require(re.search(r"\d\.\d\d\d s", shell.type("SELECT 1;\n")), "timer")
    shell.type(".timer off\n")
    require("gemm_shapes" in shell.type(".recipes\n"), "recipes")
    require("p99_ns" in shell.type(".recipe top_kernels top=3\n"), "a recipe")
    require("no recipe" in shell.type(".recipe top_kernel\n"), "a wrong recipe")
    require("no command .foo" in shell.type(".foo\n"), "a wrong command")
    equal(shell.end("\x04"), 0, "Ctrl-D")


def check_cancel(folder, index):
    shell = Shell(folder, index, index)
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c;\n"
    for _ in range(10):
        shell.wait_for_mode(editing=has_editing())
        os.write(shell.terminal, endless.encode())
        shell.wait_for_mode(editing=False)
        require("interrupted" in shell.type("\x03"), "a statement")
    require("1" in shell.type("SELECT count(*) FROM b.meta WHERE key = 'complete';\n"), "the next one")
    for _ in range(100):  # Ctrl-C right after a prompt, while the terminal changes its mode
        shell.type("SELECT 'half a statement'\n", MORE)
        shell.type("\x03")
    require("äß7" in shell.type("SELECT 'äß' || 7;\n"), "after a line that was cancelled")
    equal(shell.end("\x04"), 0, "Ctrl-D")


def check_time_limit(folder, index):
    shell = Shell(folder, index, "--timeout", "0.5")
    time.sleep(0.7)  # of a person who thinks
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c;\n"
    for _ in range(2):
        require("time limit" in shell.type(endless), "a statement without end")
    require("5" in shell.type("SELECT 5;\n"), "the next one has its own time")
    equal(shell.end("\x04"), 0, "Ctrl-D")


def check_completion(folder, index):
    shell = Shell(folder, index)
    if not has_editing():
        shell.end("\x04")
        raise Skip("built without libedit")
    require("gaps_by_cause" in shell.type("SELECT count(*) AS n FROM gaps_by\t;\n"), "a table")
    require("theoretical_occupancy_pct" in shell.type("SELECT max(theoretical\t) FROM kernels;\n"), "a column")
    equal(shell.end(".qui\t\n"), 0, "a command")
    history = folder / "state" / "tracedb" / "sql_history"
    require("gaps_by_cause" in history.read_text(), "history")
    equal([history.stat().st_mode & 0o77, history.parent.stat().st_mode & 0o77], [0, 0], "only its owner reads it")
    shell = Shell(folder, index)
    require("theoretical_occupancy_pct" in shell.type("\x1b[A\x1b[A\n"), "the line before the last")
    shell.end("\x04")


def check_plain_lines(folder, index):
    """Where no cursor moves, as in a buffer of an editor, and where the program was built without libedit."""
    shell = Shell(folder, index, kind="dumb")
    require("completion" not in shell.banner, shell.banner)
    require("42" in shell.type("SELECT 40 + 2;\n"), "one line")
    for _ in range(300):  # Ctrl-C right after a prompt
        shell.type("SELECT 'half a statement'\n", MORE)
        shell.type("\x03")
    require("7" in shell.type("SELECT\n", MORE) + shell.type("7;\n"), "after Ctrl-C, two lines")
    require("p99_ns" in shell.type(".recipe top_kernels top=3\n"), "a command")
    equal(shell.end("\x04"), 0, "Ctrl-D")


def check_no_terminal(folder, index):
    result = run("trace-query", "sql", index, check=False)
    equal([result.returncode, len(result.stderr.splitlines())], [2, 1], result.stderr)


def main():
    cases = Cases()
    with scratch_folder() as folder:
        index = ingest(make_trace(folder / "trace.json", "--layers", 2, "--steps", 3, "--truth", os.devnull),
                       folder / "index.tracedb")
        for check in (check_statements, check_commands, check_cancel, check_time_limit, check_completion, check_plain_lines,
                      check_no_terminal):
            cases.run(check.__name__, check, folder, index)
    cases.finish()


if __name__ == "__main__":
    main()
