"""What a page says: its text taken apart, and its sentences as JSON has them, with figures by name."""
import re

from trace_cases import equal, require

LEAST_STEPS = 5  # for a verdict


def stands_in(short, name):
    """Whether all words that are left of a name stand in it."""
    return all(part in name for part in re.findall(r"[^\W_]+(?:_[^\W_]+)*", short))


def brief(ns):
    """As the page writes times."""
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        value = abs(ns) / factor
        if value >= 0.9995:
            decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{'-' if ns < 0 else ''}{value:.{decimals}f} {unit}"
    return f"{round(ns)} ns"


def count(n):
    return f"{round(n):,}" if abs(n - round(n)) < 0.05 or n >= 100 else f"{n:.1f}"


def near(actual, expected, what, rounding=1):
    require(abs(actual - expected) <= rounding + 1e-9 * abs(expected), f"{what}: {actual}, of the raw trace {expected}")


class Told:
    """A sentence or a clause of it; figures that nobody asks for stay in `unread`."""

    def __init__(self, sentence, prefix="", unread=None):
        self.sentence, self.prefix = sentence, prefix
        self.unread = set(sentence["figures"]) if unread is None else unread

    def get(self, name, otherwise=None):
        self.unread.discard(self.prefix + name)
        return self.sentence["figures"].get(self.prefix + name, otherwise)

    def __getitem__(self, name):
        require(self.prefix + name in self.sentence["figures"], f"no figure {self.prefix}{name}: {self.sentence}")
        return self.get(name)

    def has(self, name):
        return any(other == self.prefix + name or other.startswith(f"{self.prefix}{name}.")
                   for other in self.sentence["figures"])

    def clause(self, name):
        """(id, its figures); (None, None) where there is none."""
        return (self.get(name), Told(self.sentence, f"{self.prefix}{name}.", self.unread)) if self.has(name) else (None, None)

    def clauses(self, name):
        """Those in a row."""
        of, number = self.clause(name)[1], 0
        while of is not None and of.has(str(number)):
            yield of.clause(str(number))
            number += 1


def check_text(sentence):
    """Every number of a text is one of its figures, and every text among the figures is in it but for what marks say."""
    said, figures = sentence["text"].replace(sentence.get("about") or "\0", " "), sentence["figures"]
    forms = set()
    for value in figures.values():
        if isinstance(value, str):
            said = re.sub(rf"(?<!\w){re.escape(value.strip())}(?!\w)", " ", said)
            continue
        for part in (abs(value), abs(100 * value)):
            scaled = next((part / 1000 ** power for power in (4, 3, 2, 1) if part >= 1000 ** power), part)  # of bytes
            forms |= {f"{scaled:.2f}", brief(part).split(" ")[0], count(part), *(f"{part:.{n}f}" for n in range(4)), f"{part:.3g}"}
    said = re.sub(r"95 %:|over 99\.9 %|under 0\.1 %|`[^`]*`|--section [\w-]+", " ", said)
    for number in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)", said):
        require(number in forms, f"{number} is none of the figures of: {sentence}")


def check_load(told, change):
    """Named only where it is a considerable part of a change."""
    if told.has("load"):
        _, load = told.clause("load")
        require(load["share"] >= max(0.01, abs(change) / 4) and load["how"] in ("more", "fewer") and load["of"] in ("tokens", "requests"), told.sentence)


def check_change(part, row):
    """Of a verdict: what its row says."""
    near(100 * part["change"], row["change_pct"], "change", 1e-6)
    equal(part["verdict"], row["verdict"], "verdict")
    kind, why = part.clause("why")
    if kind != "interval":
        require(why["reason"] and part["verdict"] == "inconclusive", "a verdict without an interval")
        return
    low, high = why["low"], why["high"]
    near(low * row["baseline"], row["low"], "low")
    near(high * row["baseline"], row["high"], "high")
    n = [why["baseline_steps"], why["candidate_steps"]]
    equal(n, [row["baseline_steps"], row["candidate_steps"]], "steps")
    require(min(n) >= LEAST_STEPS, "a verdict of too few steps")
    require(part["verdict"] in ("same", "inconclusive") or low * high > 0, "a verdict whose interval includes 0")


def check_host_step(told):
    """What the host takes for a step is told where it is much longer than the span of either side."""
    a, b = told["baseline_time"], told["candidate_time"]
    require(told["baseline"] and told["candidate"] and told["phase"] and told.get("unit") != "", told.sentence)
    beside = [told.get(f"{side}_{part}.time", 0) for side in ("baseline", "candidate") for part in ("before", "behind")]
    for side in ("baseline", "candidate"):
        told.get(f"{side}_before"), told.get(f"{side}_behind")
    require(0 < sum(beside) <= a + b, told.sentence)
    kind, difference = told.clause("difference")
    require((kind == "as_long") == (a == b), told.sentence)
    if kind != "as_long":
        near(difference[kind], max(a, b) / min(a, b) if kind == "ratio" else abs(b / a - 1), "difference", 1e-6)
        require(difference["how"], told.sentence)


def texts_of(page):
    """The sentences of a page, without their marks, and the commands."""
    texts, commands = [], []
    for block in re.sub(r"\\\n *", "", page).rstrip("\n").split("\n\n"):  # a backslash joins lines
        lines = block.split("\n")
        heading = [line for line in lines if not line.startswith(" ")]
        texts.append(" ".join(heading))
        for line in lines[len(heading):]:
            text, indent = line.lstrip(), len(line) - len(line.lstrip())
            if re.match(r"(trace-query|[AB]=)", text) and indent in (2, 5):
                commands.append(text)
            elif indent == 2:
                texts.append(text)
            else:
                texts[-1] += " " + text
    return texts, commands
