"""The manual pages that the programs print: they have what --help has, and man finds nothing to warn of."""
import re
import shutil
import subprocess

from trace_cases import ROOT, Skip, equal, require, run

HEADINGS = re.compile(r'^\.SH (.*)$', re.M)
OPTION = re.compile(r"--([a-z][a-z0-9-]*)")


def page(*words):
    return run(*words).stdout


def plain(text):
    """Words of roff as they appear."""
    for code, character in (("\\-", "-"), ("\\(aq", "'"), ("\\(dq", '"'), ("\\e", "\\"), ("\\(ha", "^"), ("\\(ti", "~")):
        text = text.replace(code, character)
    return text


def check_page(text, name, help_text):
    require(text.startswith(f".TH {name.upper()} "), text[:60])
    headings = HEADINGS.findall(text)
    require(headings[:2] == ["NAME", "SYNOPSIS"] and headings[-1] == "SEE ALSO", headings)
    shown = plain(text)
    lost = {option for option in OPTION.findall(help_text) if f"--{option}" not in shown}
    equal(lost, set(), "options of the help that the page lacks")


def check_columns(text, command):
    shown = plain(text)
    explained = run("trace-query", "help", command).stdout.partition("\nColumns")[2]
    for line in explained.splitlines():
        column = re.match(r"[a-z][a-z0-9_]+(?=  )", line)
        require(not column or re.search(rf"^\.B {column[0]}\b", shown, re.M), f"{command}: no column {column and column[0]}")


def check_globs():
    """What folders are searched for, as the help and the manual say it."""
    searched = re.search(r"\(default (.*?)\)", page("trace-ingest", "--help").split("--include", 1)[1], re.S)[1].split()
    manual = (ROOT / "src/manual/ingest.md").read_text().split("They are searched for", 1)[1].split(";")[0]
    require("*.xplane.pb" in searched, searched)
    equal(re.findall(r"`?([\w*.]*\*[\w*.]*[a-z])`?", manual), searched, "what the manual says folders are searched for")


def check_index_format():
    text = page("trace-query", "--man", "tracedb")
    require(text.startswith(".TH TRACEDB 5 "), text[:40])
    for name in ("kernel", "kernels", "timeline", "median"):
        require(f"\n.SS {name}\n" in text, name)
    require("\n.B corr" in text or "\n.B ts" in text, "columns")


def check_man(pages, folder):
    """What groff warns of; mandoc, where it is installed."""
    if not shutil.which("man"):
        raise Skip("man is not installed")
    for number, text in enumerate(pages):
        path = folder / f"page{number}.{text.split()[2]}"
        path.write_text(text)
        command = ["man", "--warnings=all", "-E", "UTF-8", "-Tutf8", "-Z", "-l", path]
        result = subprocess.run(command, capture_output=True, text=True, env={"MANROFFSEQ": "", "LC_ALL": "C.UTF-8",
                                "PATH": "/usr/bin:/bin", "MAN_KEEP_STDERR": "1"}, timeout=60, check=False)
        equal((result.returncode, result.stderr), (0, ""), text[:60])
        if shutil.which("mandoc"):
            lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", path], capture_output=True, text=True, check=False)
            equal([line for line in lint.stdout.splitlines() if "missing date" not in line], [], text[:60])


def main(cases, folder):
    pages = []
    for program in ("trace-ingest", "trace-query", "make-trace"):
        text = cases.run(f"{program} --man", page, program, "--man")
        cases.run(program, check_page, text, program, page(program, "--help") if program != "trace-query" else "")
        pages.append(text)
    commands = [line.split("\t")[0] for line in run("trace-query", "--complete", "help", "").stdout.splitlines()]
    require(len(commands) > 20, commands)
    for command in commands:
        text = cases.run(f"{command} --man", page, "trace-query", command, "--man")
        cases.run(command, check_page, text, f"trace-query-{command}", page("trace-query", command, "--help"))
        cases.run(f"columns of {command}", check_columns, text, command)
        pages.append(text)
    cases.run("searched files", check_globs)
    cases.run("tracedb(5)", check_index_format)
    pages.append(page("trace-query", "--man", "tracedb"))
    cases.run("man", check_man, pages, folder)
