"""The commands that the page of compare prints, run in a shell as a reader would who copies them."""
import os
import subprocess

from trace_cases import BIN, require


def commands_of(page):
    """(assignments, commands); lines that end with a backslash go on in the next one, as in a shell."""
    assignments, commands, broken = [], [], None
    for line in page.splitlines():
        text = line.strip()
        if broken is not None:
            broken[-1] += "\n" + line
        elif text.startswith(("A=", "B=")):
            broken = assignments
            assignments.append(text)
        elif text.startswith("trace-query "):
            broken = commands
            commands.append(text)
        if not line.endswith("\\"):
            broken = None
    return assignments, commands


def check_commands(page):
    """Every command answers."""
    assignments, commands = commands_of(page)
    require(len(assignments) == 2 and len(commands) >= 2, f"{len(commands)} commands on the page")
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    for command in commands:
        result = subprocess.run(["sh", "-eu", "-c", "\n".join([*assignments, command])], env=environment,
                                capture_output=True, text=True, timeout=120)
        require(result.returncode == 0, f"{command}: exit {result.returncode}: {result.stderr.strip()}")
        empty = ": nothing" in result.stdout and not command.endswith("--section all")  # of which some may have no rows
        require(len(result.stdout.splitlines()) > 2 and not empty, f"{command} shows nothing")
