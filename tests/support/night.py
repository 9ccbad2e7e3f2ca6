"""A night of traces for the tests of tools/fleet: its list, the records of its tasks, its manifest."""
import json
import os
import resource
import subprocess
import sys

from trace_cases import BIN, ROOT, make_trace, require

FLEET = ROOT / "tools/fleet"


class Night:
    """A folder with traces, their list and the records of tasks."""

    def __init__(self, folder, names=("a.json", "b.json", "c.json")):
        self.folder = folder
        self.list, self.records, self.programs = folder / "traces.txt", folder / "records", folder / "bin"
        self.programs.mkdir()
        first = make_trace(folder / names[0], "--layers", "2", "--steps", "3")
        for name in names[1:]:
            os.link(first, os.fsencode(folder) + b"/" + os.fsencode(name))
        self.write_list(names)

    def write_list(self, names):
        self.list.write_bytes(b"".join(os.fsencode(self.folder / name) + b"\n" for name in names))

    def task(self, number=0, *options, chunk=10, attempt=0, limit=None, trace_list=None):
        """(exit code, standard error) of one task; `limit` is the size of the largest file it may write."""
        def limit_files():
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        command = [sys.executable, FLEET / "ingest_task.py", "--task", str(number), "--chunk", str(chunk), "--attempt",
                   str(attempt), *options, trace_list or self.list, self.records]
        variables = {**os.environ, "PATH": f"{self.programs}:{BIN}:{os.environ['PATH']}"}
        result = subprocess.run(command, env=variables, preexec_fn=limit_files, capture_output=True, check=False)
        return result.returncode, os.fsdecode(result.stderr)

    def manifest(self):
        """(exit code, {file name: (outcome, status)}) and, as text, the lists of those to retry and of those failed."""
        result = subprocess.run([sys.executable, FLEET / "manifest.py", self.list, self.records], capture_output=True, text=True,
                                check=False)
        lines = [json.loads(line) for line in (self.folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines()]
        require(result.stdout.startswith(f"{len(lines)} traces: "), result.stdout + result.stderr)
        self.entries = {os.path.basename(line["path"]): line for line in lines}
        return result.returncode, {name: line["outcome"] for name, line in self.entries.items()}

    def add_program(self, name, text):
        """A stand-in that tasks find before the real one."""
        (self.programs / name).write_text(text, encoding="utf-8")
        (self.programs / name).chmod(0o755)

    def read_records(self):
        """All records so far, in order of time."""
        files = self.records.glob("[!.]*.jsonl") if self.records.exists() else ()
        records = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        return sorted(records, key=lambda record: record["time"])

    def listed(self, name):
        return [os.path.basename(line) for line in os.fsdecode((self.folder / name).read_bytes()).splitlines()]
