"""What is no trace is refused with one line that names the file and the reason, exit 3, and leaves nothing behind;
a trace without events is a valid index that says so."""
import bz2
import gzip
import lzma
import os
import pickle
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

from trace_cases import edit_database, equal, open_index, program, real_trace, require, run, without_rights

# File name, content, a word of the reason that must be in the message.
REFUSED = [
    ("text.json", b"this is not a trace\n", "JSON"),
    ("number.json", b"42\n", "JSON|trace|events"),
    ("binary.json", bytes(range(256)) * 16, "JSON"),
    ("empty.json", b"", "empty"),
    ("blank.json", b" \n\n", "empty|JSON"),
    ("cut.json.gz", gzip.compress(b'{"traceEvents": []}')[:11], "cut off"),
    ("lfs_pointer.json.gz", b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n",
     "LFS"),
    ("page.json", b"<!DOCTYPE html>\n<html><body>404 not found</body></html>\n", "HTML"),
    ("page_lower.json", b"\n  <html><head></head></html>", "HTML"),
    ("rocprof_results.json", b'{"rocprofiler-sdk-tool": [{"metadata": {"pid": 1}}]}', "rocprofv3"),
    ("execution_details.json", b'[{"file": "a.json.gz", "batch_size": 32, "mode": "FULL"}]', "captured graphs"),
    ("other.json", b'{"name": "package", "version": "1.0"}', "traceEvents"),
    ("list.json", b'[{"name": "a"}, {"name": "b"}]', '"ph"'),
    ("trace.json.xz", lzma.compress(b'{"traceEvents": []}'), "xz"),
    ("trace.json.bz2", bz2.compress(b'{"traceEvents": []}'), "bzip2"),
    ("twice.json.gz", gzip.compress(gzip.compress(b'{"traceEvents": []}')), "twice"),
    ("kernel_details.csv", b"TYPE,DURATION(US),START TIME(US)\nAdd,1,2\n", "columns Type"),
    ("kernels.csv", b"Type;Duration(us);Start Time(us)\nAdd;1;2\n", "columns Type"),
    ("nothing.csv", b"", "empty"),
    ("trace.pftrace", b"\x0a\x20\x08\x01\x12\x10" + bytes(40), "Perfetto"),
    ("report.nsys-rep", bytes(range(200)), "Nsight Systems"),
    ("snapshot.pickle", pickle.dumps({"segments": []}), "pickle"),
]
# A database of another tool: a table it has, and a word of the reason.
DATABASES = [("trace.rpd", "rocpd_op", "RPD"), ("1_results.db", "rocpd_region", "rocprofv3"), ("report.sqlite", "CUPTI_ACTIVITY_KIND_KERNEL", "Nsight Systems"),
             ("ascend_pytorch_profiler_0.db", "CANN_API", "without its main tables"), ("mine.db", "whatever", "SQLite")]
# Files of other producers among the real ones.
OTHER_FILES = ["kineto/gpt_oss_vllm_decode_graph_mi300x.execution_details.json"]

# And what is said of it.
WITHOUT_EVENTS = [
    ("no_events.json", b'{"schemaVersion": 1, "traceEvents": []}', "0 events"),
    ("empty_array.json", b"[]", "0 events"),
    ("empty_object.json", b"{}", "0 events"),
    ("null_events.json", b'{"traceEvents": null}', "0 events"),
    ("cut_before_events.json", b'{"schemaVersion": 1, "deviceProp', "cut off before its first event"),
]


def refuse(path, reason, folder, command=None):
    """Runs trace-ingest on something that is no trace, as users do: the index would go beside it."""
    before = sorted(os.listdir(folder))
    result = subprocess.run([*(command or [program("trace-ingest")]), "-q", str(path)],
                            capture_output=True, text=True, timeout=60)
    equal(result.returncode, 3, "exit code")
    equal(result.stdout, "", "standard output")
    lines = result.stderr.splitlines()
    equal(len(lines), 1, f"lines on stderr ({result.stderr!r})")
    require(path.name in lines[0], f"the message does not name the file: {lines[0]!r}")
    require(any(word.lower() in lines[0].lower() for word in reason.split("|")),
            f"the message does not say why ({reason}): {lines[0]!r}")
    equal(sorted(os.listdir(folder)), before, "files in the folder")
    return lines[0].removeprefix("trace-ingest: ")


def ask(path, message, folder):
    """trace-query says the same, whatever is asked."""
    before = sorted(os.listdir(folder))
    for command in ("info", "verify"):
        result = subprocess.run([program("trace-query"), command, "-q", str(path)], capture_output=True, text=True, timeout=60)
        equal((result.returncode, result.stderr.removeprefix("trace-query: ").strip()), (3, message), command)
    equal(sorted(os.listdir(folder)), before, "files in the folder")


def refuse_content(folder, name, content, reason):
    (folder / name).write_bytes(content)
    refuse(folder / name, reason, folder)


def refuse_database(folder, name, table, reason):
    edit_database(folder / name, f"CREATE TABLE {table} (id INTEGER)")
    ask(folder / name, refuse(folder / name, reason, folder), folder)


def refuse_real(folder, name):
    path = Path(shutil.copy(real_trace(name), folder))
    ask(path, refuse(path, "", folder), folder)


def refuse_archive(folder):
    (folder / "a.json").write_bytes(b'{"traceEvents": []}')
    with tarfile.open(folder / "a.tar.gz", "w:gz") as archive:
        archive.add(folder / "a.json", "a.json")
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.write(folder / "a.json", "a.json")
    for name, word in (("a.tar.gz", "tar"), ("a.zip", "zip")):
        ask(folder / name, refuse(folder / name, word, folder), folder)


def refuse_directory(folder):
    """A folder without traces in it: named as input, there is nothing to ingest."""
    (folder / "nothing.json").mkdir()
    refuse(folder / "nothing.json", "no trace|directory|folder", folder)


def refuse_missing(folder):
    refuse(folder / "absent.json", "no such file|not found|does not exist", folder)


def refuse_unreadable(folder):
    command = without_rights(program("trace-ingest"))
    folder.chmod(0o777)
    (folder / "secret.json").write_bytes(b'{"traceEvents": []}')
    (folder / "secret.json").chmod(0)
    refuse(folder / "secret.json", "permission", folder, command)


def accept_without_events(folder, name, content, said):
    (folder / name).write_bytes(content)
    run("trace-ingest", "-q", folder / name)
    database = open_index(folder / f"{name}.tracedb")
    equal(database.execute("PRAGMA integrity_check").fetchone()[0], "ok", "integrity_check")
    equal(database.execute("SELECT count(*) FROM kernel").fetchone()[0], 0, "kernels")
    issues = database.execute("SELECT sample FROM issue WHERE kind = 'no_events'").fetchall()
    require(len(issues) == 1 and said in issues[0][0], f"no issue says that there are no events: {issues}")
    for command in ("info", "kernels", "memcpys", "issues"):
        run("trace-query", command, folder / name)


def main(cases, _):
    for name, content, reason in REFUSED:
        cases.run_apart(f"refused {name}", refuse_content, name, content, reason)
    for name, table, reason in DATABASES:
        cases.run_apart(f"refused {name}", refuse_database, name, table, reason)
    for name in OTHER_FILES:
        cases.run_apart(f"refused {name}", refuse_real, name)
    cases.each_apart((refuse_archive, refuse_directory, refuse_missing, refuse_unreadable))
    for name, content, said in WITHOUT_EVENTS:
        cases.run_apart(f"without events {name}", accept_without_events, name, content, said)
