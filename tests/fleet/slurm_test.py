"""tools/fleet/ingest.sbatch on a Slurm of three nodes: a node dies, programs are killed, a trace grows, a disk is full, a
trace is none. All others are done, each is accounted for, and a second submission does only what is missing."""
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

from local_servers import require_fleet, wait_until
from mini_slurm import MiniSlurm
from night import FLEET, Night
from trace_cases import BIN, equal

INPUTS = 24
KILLED, GROWING, FULL, BAD, SHELL_KILLED = (f"t{number:02}.json" for number in (3, 5, 9, 7, 11))
# In place of trace-ingest: one fault for each file named in $FAULTS, once; a second for each trace, so that tasks overlap.
# A fault waits for $FAULTS/begin: the death of a node in the midst of one would leave the trace without any.
PROGRAM = """#!/bin/bash
trace=$(cat)
fault=$(cat "$FAULTS/${trace##*/}" 2>/dev/null)
sleep "${PAUSE:-1}"
[ -z "$fault" ] || until [ -e "$FAULTS/begin" ]; do sleep 0.1; done
rm -f "$FAULTS/${trace##*/}"
case $fault in
  kill) kill -9 $$ ;;
  kill-shell) kill -9 "$(cut -d ' ' -f 4 "/proc/$PPID/stat")" $PPID $$ ;;
  grow) while kill -0 $$; do printf ' ' >>"$trace"; done & ;;
  limit) ulimit -f 60 ;;
esac
echo "$trace" | "$REAL" "$@"
code=$?
[ "$fault" != grow ] || kill $!
exit $code
"""


class Disk:
    """A small disk with one trace and a file that fills it. Where nothing can be mounted, the size of files is limited."""

    def __init__(self, folder, trace, faults):
        self.folder = folder / "disk"
        self.folder.mkdir()
        size = (trace.stat().st_size + 300_000) // 4096 * 4
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", self.folder]
        self.mounted = subprocess.run(mount, stderr=subprocess.DEVNULL, check=False).returncode == 0
        shutil.copyfile(trace, self.folder / FULL)
        if self.mounted:
            subprocess.run(["dd", "if=/dev/zero", f"of={self.folder}/filler", "bs=4096"], stderr=subprocess.DEVNULL, check=False)
        else:
            print("nothing can be mounted here: the full disk is a limit on the size of files")
            (faults / FULL).write_text("limit", encoding="utf-8")

    def make_room(self):
        if self.mounted:
            (self.folder / "filler").unlink()
            subprocess.run(["mount", "-o", "remount,size=16m", self.folder], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.mounted:
            subprocess.run(["umount", self.folder], check=True)


def prepare(folder):
    """The night, its faults and the variables of its jobs."""
    night = Night(folder, [f"t{number:02}.json" for number in range(INPUTS)])
    faults = folder / "faults"
    faults.mkdir()
    for name, fault in ((KILLED, "kill"), (GROWING, "grow"), (SHELL_KILLED, "kill-shell")):
        (faults / name).write_text(fault, encoding="utf-8")
    for name in (GROWING, BAD):
        text = (folder / name).read_bytes()
        (folder / name).unlink()
        (folder / name).write_bytes(text if name == GROWING else b"no trace\n")
    night.add_program("trace-ingest", PROGRAM)
    variables = {"FLEET_TOOLS": str(FLEET), "FLEET_LIST": str(night.list), "FLEET_RECORDS": str(night.records),
                 "FAULTS": str(faults), "REAL": str(BIN / "trace-ingest"),
                 "PATH": f"{night.programs}:{BIN}:{os.environ['PATH']}"}
    return night, faults, variables


def submit(cluster, night, variables):
    (night.folder / "log").mkdir(exist_ok=True)
    last = len(night.list.read_bytes().splitlines()) - 1
    return cluster.submit(FLEET / "ingest.sbatch", f"--array=0-{last}", "--cpus-per-task=1",
                          f"--output={night.folder}/log/%A_%a.out", **variables)


def faulty_night(cluster, folder):
    night, faults, variables = prepare(folder)
    with Disk(folder, folder / "t00.json", faults) as disk:
        names = night.list.read_text().replace(f"{folder}/{FULL}", f"{disk.folder}/{FULL}")
        night.list.write_text(names)
        submit(cluster, night, variables)
        wait_until(lambda: cluster.processes_on(2), "n2 runs a task")
        cluster.kill_node(2)
        (faults / "begin").touch()
        wait_until(lambda: any(entry["code"] == 5 for entry in night.read_records()), "the disk is full")
        disk.make_room()
        cluster.wait_for_jobs()
        code, outcomes = night.manifest()
        expected = {f"t{number:02}.json": "done" for number in range(INPUTS)} | {BAD: "failed", SHELL_KILLED: "missing"}
        equal((code, outcomes), (6, expected), f"first submission\n{log_of(folder)}")
        equal((night.listed("retry.txt"), night.listed("failed.txt")), ([SHELL_KILLED], [BAD]), "lists")
        codes = {name: [entry["code"] for entry in night.read_records() if entry["path"].endswith(name)]
                 for name in (KILLED, GROWING, FULL, BAD)}
        equal({name: (found[0], found[-1]) for name, found in codes.items()},
              {KILLED: (6, 0), GROWING: (6, 0), FULL: (5, 0), BAD: (3, 3)}, "codes of the attempts, first and last")
        equal(len(codes[BAD]), 1, "attempts of what cannot succeed")
        equal({entry["node"] for entry in night.entries.values() if entry["attempts"]} & {"n1", "n3"}, {"n1", "n3"}, "nodes")
        again = submit(cluster, night, {**variables, "PAUSE": "0"})
        cluster.wait_for_jobs()
        equal(night.manifest(), (3, expected | {SHELL_KILLED: "done"}), "second submission")
        second = [entry for entry in night.read_records() if entry["run"] == again]
        equal(Counter(entry["status"] for entry in second), Counter(valid=INPUTS - 2, built=1, failed=1), "what it did")
        equal(sorted(folder.glob("**/*.partial")), [], "leftovers")


def log_of(folder):
    logs = sorted((folder / "log").glob("*.out"))
    return "".join(f"{path.name}: {path.read_text(errors='replace')[-600:]}\n" for path in logs if path.stat().st_size)[-3000:]


def requeues_itself(cluster, folder):
    """Where the configuration of the cluster does not repeat the codes 5 and 6."""
    cluster.configure("")
    cluster.run("scontrol", "reconfigure")
    wait_until(lambda: "= 5,6" not in cluster.run("scontrol", "show", "config"), "the controller has read it")
    night = Night(folder, ("t00.json", "t01.json"))
    faults = folder / "faults"
    faults.mkdir()
    (faults / "t01.json").write_text("kill", encoding="utf-8")
    (faults / "begin").touch()
    night.add_program("trace-ingest", PROGRAM)
    submit(cluster, night, {"FLEET_TOOLS": str(FLEET), "FLEET_LIST": str(night.list), "FLEET_RECORDS": str(night.records),
                            "FLEET_INDEX_DIR": str(folder / "indexes"), "FAULTS": str(faults), "PAUSE": "0",
                            "REAL": str(BIN / "trace-ingest"), "PATH": f"{night.programs}:{BIN}:{os.environ['PATH']}"})
    cluster.wait_for_jobs()
    equal(night.manifest(), (0, {"t00.json": "done", "t01.json": "done"}), f"manifest\n{log_of(folder)}")
    equal([entry["attempts"] for entry in night.entries.values()], [1, 2], "attempts")
    equal({Path(entry["index"]).parent for entry in night.entries.values()}, {folder / "indexes"}, "folder of the indexes")


def on_slurm(cases, folder):
    require_fleet()
    with MiniSlurm(folder / "slurm") as cluster:
        for case in (faulty_night, requeues_itself):
            (folder / case.__name__).mkdir()
            cases.run(case.__name__, case, cluster, folder / case.__name__)


def main(cases, folder):
    cases.run("three nodes start and leave nothing behind", on_slurm, cases, folder)
