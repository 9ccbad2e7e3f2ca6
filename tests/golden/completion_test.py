"""Completion in shells: what the programs answer to --complete, that they take what they offer, and that bash and fish
show it. What a whole option is for follows from its declaration; values are words that the option accepts."""
import os
import subprocess

from trace_cases import BIN, ROOT, equal, installed, make_trace, require, run

SERVER = ("--layers", 2, "--steps", 3, "--mix", "P,D*2", "--batch", 4, "--seed", 11)
FILES, LIST = ":files", ":list"


def words_of(lines):
    return [line.split("\t")[0] for line in lines if line != LIST]


def complete(program, *words):
    return words_of(run(program, "--complete", *words).stdout.splitlines())


def check_commands():
    listed = run("trace-query", "--help").stdout
    for name in complete("trace-query", ""):
        require(name in (FILES, "help") or f"\n  {name} " in listed, name)
    equal(complete("trace-query", "comp"), ["compare", FILES], "a command that is begun")
    require({"ops", "sql"} <= set(complete("trace-query", "help", "")) and FILES not in complete("trace-query", "help", ""), "help")
    equal(complete("trace-query", "rules", ""), ["show", "check", "list", "explain"], "rules")
    equal(complete("trace-query", "rules", "show", ""), [FILES], "rules show")
    require("--wide" in complete("trace-query", "t.json", "--w"), "a trace in place of a command")


def check_words():
    for words, expected in ((("ops", "--ph"), ["--phase"]), (("ops", "--phase", "de"), ["decode"]),
                            (("ops", "--phase", "decode,mi"), ["decode,mixed"]), (("ops", "--phase=tr"), ["--phase=train"]),
                            (("ops", "--op", "moe_g"), ["moe_gemm"]), (("ops", "--columns", "op,time_p"), ["op,time_pct"]),
                            (("sql", "--recipe", "slowest_st"), ["slowest_steps"]), (("ops", "--wide", ""), [FILES]),
                            (("sql", "--file", ""), [FILES]), (("schema", "--json-schema", "trend"), ["trend"]),
                            (("ops", "-n", ""), []), (("ops", "--", "--ph"), [FILES]), (("ops", "--wide=x"), []),
                            (("ops", "--by", ""), ["pass", "role", "hlo"]), (("kernels", "--by", "la"), ["launch"]),
                            (("breakdown", "--by", "d"), ["device"]), (("operators", "--by", "m"), ["module"]),
                            (("critical-path", "--by", "st"), ["step"]), (("memory", "--by", "l"), ["line"]), (("counters", "--by", ""), ["operator"]),
                            (("ops", "--nonsense", ""), [FILES]), (("trend", "--metric", "op:norm"), ["op:norm"])):
        found = complete("trace-query", *words)
        if words[-1] == "op:norm":
            found = found[:1]
        equal(found, expected, str(words))
    equal(complete("trace-ingest", "--progress", "a"), ["auto", "always"], "trace-ingest")
    equal(complete("make-trace", "--vendor", ""), ["amd", "nvidia"], "make-trace")
    equal(complete("make-trace", "--fuse", "add+rmsnorm,silu"), ["add+rmsnorm,silu+quant"], "a list of make-trace")


def offered(command, option):
    """Values of an option; those of a list as one."""
    lines = run("trace-query", "--complete", command, option, "").stdout.splitlines()
    values = [value for value in words_of(lines) if value != FILES and value[-1] not in "=:"]
    is_list = LIST in lines
    return [",".join(values)] if is_list and values else values


def check_offers(trace, folder):
    """Every word offered for the value of an option is one that the option takes: each with one of the commands that have the
    option, and each option of a command with one of its words."""
    tried = set()
    for command in complete("trace-query", "help", ""):
        inputs = [trace, trace] if command in ("compare", "align", "fusion") else [trace]
        for option in complete("trace-query", command, "--"):
            values = offered(command, option)
            for value in [one for one in values if (option, one) not in tried] or values[:1]:
                action = ["show"] if command == "rules" else []
                text = ["SELECT count(*) FROM ops"] if command == "sql" and option != "--recipe" else []
                result = run("trace-query", command, *action, f"{option}={value}", *inputs, *text, check=False, cwd=folder)
                tried.add((option, value))
                # Some go with another option only; columns of a comparison depend on the traces.
                excused = any(words in result.stderr for words in ("--section", "needs", "no column"))
                require(result.returncode != 2 or option not in result.stderr or excused, f"{command}: {result.stderr}")
    require(len(tried) > 100, f"only {len(tried)} values")


def shell(program, *words):
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    result = subprocess.run([installed(program), *words], env=environment, capture_output=True, text=True, timeout=60, check=False)
    equal((result.returncode, result.stderr), (0, ""), program)
    return result.stdout.splitlines()


def script(folder, kind):
    text = (ROOT / "tools/manual" / f"completion.{kind}").read_text().replace("@PROGRAM@", "trace-query")
    path = folder / f"completion.{kind}"
    path.write_text(text)
    return path


def check_bash(folder):
    """As bash splits words: at = and :, too."""
    source = script(folder, "bash")
    for words, expected in ((["ops", "--pha"], ["--phase"]), (["ops", "--phase", "=", "de"], ["decode"]),
                            (["trend", "--metric", "op", ":", "dense_g"], ["dense_gemm"]), (["ops", "--phase", "="], None)):
        given = " ".join(f"'{word}'" for word in ["trace-query", *words])
        found = shell("bash", "--norc", "-c", f"source {source}; COMP_WORDS=({given}); COMP_CWORD={len(words)}; _trace-query; "
                                              'printf "%s\\n" "${COMPREPLY[@]}"')
        equal(found, expected if expected else complete("trace-query", "ops", "--phase", ""), str(words))


def check_fish(folder):
    source = script(folder, "fish")
    found = shell("fish", "--no-config", "-c", f"source {source}; complete -C 'trace-query ops --phase decode,mi'")
    equal([line.split("\t")[0] for line in found], ["decode,mixed"], "a list")
    found = shell("fish", "--no-config", "-c", f"source {source}; cd {folder}; complete -C 'trace-query ops spa'")
    require("space d.json" in [line.split("\t")[0] for line in found], found)


def main(cases, folder):
    trace = make_trace(folder / "space d.json", *SERVER)
    for name, check, *values in (("commands", check_commands), ("words", check_words), ("offers", check_offers, trace, folder),
                                 ("bash", check_bash, folder), ("fish", check_fish, folder),
                                 ("zsh", lambda: shell("zsh", "-n", script(folder, "zsh")))):
        cases.run(name, check, *values)
