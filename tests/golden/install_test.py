"""`cmake --install` into a scratch folder: programs that run, manual pages, completion, licence, rules, schema, the extension
and documents whose links lead somewhere."""
import re
import shutil
import subprocess

from trace_cases import BIN, Skip, equal, installed, require

LINK = re.compile(r"\]\(([^)#:]+)\)")
EXPECTED = ("bin/trace-ingest", "bin/trace-query", "bin/make-trace", "share/man/man1/trace-ingest.1", "share/man/man1/trace-query.1",
            "share/man/man1/trace-query-compare.1", "share/man/man1/make-trace.1", "share/man/man5/tracedb.5",
            "share/bash-completion/completions/trace-query", "share/zsh/site-functions/_trace-query",
            "share/fish/vendor_completions.d/trace-query.fish", "share/doc/tracedb/LICENSE", "share/doc/tracedb/README.md",
            "share/doc/tracedb/src/manual/compare.md", "share/tracedb/rules/default.rules", "share/tracedb/schema/core.sql",
            "share/tracedb/schema/reports/info.sql")
FOR_DEVELOPERS = ("src/README.md", ".github/", "benchmarks/", "tools/fleet/")  # stay with the sources


def install(folder):
    build = BIN.parent
    if not (build / "cmake_install.cmake").exists() or not shutil.which("cmake"):
        raise Skip(f"{build} is no folder of a build")
    if not (build / "tools/manual/pages.stamp").exists():
        raise Skip("the manual pages are not built (target programs)")
    result = subprocess.run(["cmake", "--install", build, "--prefix", folder], capture_output=True, text=True, check=False)
    require(result.returncode == 0, result.stderr)
    return folder


def check_files(folder):
    equal([name for name in EXPECTED if not (folder / name).is_file()], [], "files that are not installed")
    commands = subprocess.run([folder / "bin/trace-query", "--complete", "help", ""], capture_output=True, text=True, check=True)
    pages = {path.name for path in (folder / "share/man/man1").iterdir()}
    missing = [line for line in commands.stdout.splitlines() if f"trace-query-{line.split()[0]}.1" not in pages]
    equal(missing, [], "commands without a page")
    require("@" not in (folder / "share/bash-completion/completions/make-trace").read_text().partition("\n")[0], "a name")


def check_links(folder):
    documents = folder / "share/doc/tracedb"
    for page in documents.rglob("*.md"):
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            name = (page.parent / target).resolve().relative_to(documents.resolve()).as_posix()
            require((page.parent / target).exists() or name.startswith(FOR_DEVELOPERS), f"{page}: {target}")


def check_hardening(folder):
    """Programs and library cannot be written over where addresses of functions stand; stacks and buffers are checked."""
    readelf = installed("readelf")
    files = [*(folder / "bin").iterdir(), *folder.rglob("libtracedb_sqlite.so")]
    require(len(files) >= 3, f"only {files}")
    fortified = 0
    for file in files:
        text = subprocess.run([readelf, "-W", "--file-header", "--segments", "--dynamic", "--symbols", file], capture_output=True,
                              text=True, check=True).stdout
        for sign in (r"DYN \(", "GNU_RELRO", r"FLAGS_1.* NOW\b", "__stack_chk_fail"):
            require(re.search(sign, text), f"{file.name}: nothing of {sign}")
        require(not re.search(r"GNU_STACK .* RWE", text), f"{file.name}: its stack may be executed")
        fortified += len(re.findall(r"__\w+_chk\b", text))
    require(fortified > 0, "no call is checked: FORTIFY is off")


def main(cases, folder):
    installed = cases.run("install", install, folder / "prefix")
    if installed:
        cases.each((check_files, check_links, check_hardening), installed)
