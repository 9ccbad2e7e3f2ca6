"""`mcp` as clients of the protocol's own libraries have it: each of its generations. The libraries are fetched by this
test alone, as mcp_client/package-lock.json pins them."""
import json
import os
import shutil
import subprocess
from pathlib import Path

from trace_cases import Skip, equal, ingest, make_trace, program, require

CLIENT = Path(__file__).resolve().parent / "mcp_client"
TOOLS = ["list_indexes", "report", "table", "compare", "trend", "ranks", "sql", "explain"]


def install(folder):
    if shutil.which("npm") is None or int(subprocess.run(["node", "--version"], capture_output=True, text=True).stdout[1:].split(".")[0]) < 20:
        raise Skip("npm and Node 20 are needed")
    shutil.copytree(CLIENT, folder / "client")
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0"], cwd=folder / "client", capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if "error" in line]
        if any("EUSAGE" in line for line in said):
            raise AssertionError("\n".join(said))
        raise Skip("; ".join(said[:2]))
    return True


def node(folder, *words):
    return subprocess.run(list(map(str, words)), cwd=folder / "client", capture_output=True, text=True, timeout=120, env={**os.environ, "COLUMNS": "80"})


def check_session(folder, mode, era):
    done = node(folder, "node", "session.mjs", mode, program("trace-query"), folder / "traces")
    equal((done.returncode, done.stderr), (0, ""), mode)
    got = json.loads(done.stdout)
    equal((got["era"], got["server"], got["tools"], got["index"]), (era, "tracedb", TOOLS, "a"), mode)
    pages = [json.loads(got[page]["text"])["rows"] for page in ("first", "second")]
    require(pages[0] and pages[1] and pages[0][0] != pages[1][0], f"{mode}: the second page is the first")
    equal([got[answer]["isError"] for answer in ("first", "second", "report", "wrong")], [False, False, False, True], mode)
    require("no single index 'no such trace'" in got["wrong"]["text"] and len(got["report"]["text"]) > 100, f"{mode}: {got['wrong']}")
    equal(len({answer["text"] for answer in got["at_once"]}), 1, f"{mode}: answers at once")


def main(cases, folder):
    (folder / "traces").mkdir()
    ingest(make_trace(folder / "a.json"), folder / "traces" / "a.tracedb")
    if not cases.run("install", lambda: install(folder)):
        return
    for mode, era in (("legacy", "legacy"), ("auto", "modern"), ("2026-07-28", "modern"), ("sdk", "legacy")):
        cases.run(mode, lambda mode=mode, era=era: check_session(folder, mode, era))
