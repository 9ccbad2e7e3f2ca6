"""Runs the programs."""
import json
import os
import re
import shutil
import subprocess
from typing import Any, Dict, List, Optional, Sequence


_WRITING = ("output", "save_baseline")


class Error(Exception):
    """What a program said in one line. `exit_code`: 2 wrong use, 3 an input that cannot be read, 5 a resource or a limit,
    6 try again (see trace-query --help)."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def find(name: str) -> str:
    """The program in the folder TRACEDB_BIN, else on PATH."""
    folder = os.environ.get("TRACEDB_BIN")
    found = shutil.which(name, path=folder) if folder else shutil.which(name)
    if found is None:
        where = f"in TRACEDB_BIN={folder}" if folder else "on PATH; TRACEDB_BIN may name its folder"
        raise Error(f"{name} is not {where}", 2)
    return found


def command(name: str) -> List[str]:
    """Words of a command, such as "rules show"; options have arguments of their own."""
    if not re.fullmatch(r"[a-z][a-z0-9]*( [a-z][a-z0-9]*)*", name):
        raise Error(f"{name!r} is no command", 2)
    return name.split()


def option(name: str, value: Any) -> List[str]:
    """phase="decode" is --phase decode, per_op=True is --per-op, op=["norm", "copy"] is both, joined by a comma. Options
    that write a file are refused: what is asked here is returned."""
    if not re.fullmatch(r"[a-z][a-z0-9_]+", name) or name in _WRITING:
        raise Error(f"{name!r} is no option here", 2)
    flag = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    if isinstance(value, (list, tuple)):
        return [f"{flag}={','.join(map(str, value))}"]
    return [f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}"]


def options(values: Dict[str, Any]) -> List[str]:
    return [word for name, value in values.items() for word in option(name, value)]


def ask(words: Sequence[str], stdin: Optional[str] = None) -> Dict[str, Any]:
    """The JSON that trace-query answers with."""
    result = subprocess.run([find("trace-query"), *words, "--quiet", "--format=json"], input=stdin if stdin is not None else "",
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    if result.returncode != 0:
        lines = [line for line in result.stderr.splitlines() if line.startswith("trace-query: ")]
        message = lines[-1][len("trace-query: "):] if lines else result.stderr.strip() or f"ended with {result.returncode}"
        raise Error(message, result.returncode)
    document: Dict[str, Any] = json.loads(result.stdout)
    return document
