"""Shared by the tests of libtracedb_sqlite.so: where it is, and asking through Python's sqlite3 and the stock shell."""
import json
import shutil
import subprocess
import sys
from pathlib import Path

from trace_cases import BIN, Skip, require

LIBRARY = BIN.parent / "lib" / "libtracedb_sqlite.so"
CLIENT = Path(__file__).resolve().parent / "extension_client.py"
CAN_LOAD = "import sqlite3, sys; sys.exit(0 if hasattr(sqlite3.Connection, 'enable_load_extension') else 1)"


def loading_python():
    """A Python whose sqlite3 can load extensions: some are built without."""
    for python in (sys.executable, "/usr/bin/python3"):
        if shutil.which(python) and subprocess.run([python, "-c", CAN_LOAD], check=False).returncode == 0:
            return python
    raise Skip("no Python here can load extensions of SQLite")


def uri_of(path, mode="ro"):
    return f"{Path(path).resolve().as_uri()}?mode={mode}"


def by_python(uri, *steps, **request):
    """Answers to the steps: see extension_client.py."""
    asked = {"library": str(LIBRARY), "uri": uri, "steps": steps, **request}
    result = subprocess.run([loading_python(), "-I", CLIENT], input=json.dumps(asked), capture_output=True, text=True,
                            timeout=300, check=False)
    require(result.returncode == 0, f"Python: exit {result.returncode}\n{result.stderr}")
    return json.loads(result.stdout)


def by_shell(database, statement, *before):
    """What the stock shell says: (rows, messages). Commands in `before` come before the library is loaded."""
    program = shutil.which("sqlite3")
    if program is None:
        raise Skip("no sqlite3 here")
    options = [part for command in (*before, f".load '{LIBRARY}'") for part in ("-cmd", command)]
    result = subprocess.run([program, "-batch", "-init", "/dev/null", "-json", *options, database, statement], capture_output=True,
                            text=True, timeout=300, check=False)
    return json.loads(result.stdout or "[]"), result.stderr
