"""The page of compare taken apart into sentences, and numbers as it writes them."""
import re

TIME = r"[+-]?[\d.]+ (?:ns|us|ms|s)\b"


def brief(ns):
    """As the page writes times."""
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        value = abs(ns) / factor
        if value >= 0.9995:
            decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{'-' if ns < 0 else ''}{value:.{decimals}f} {unit}"
    return f"{round(ns)} ns"


def signed(ns):
    return ("+" if ns > 0 else "") + brief(ns)


def count(n):
    return f"{round(n):,}" if abs(n - round(n)) < 0.05 or n >= 100 else f"{n:.1f}"


class Item:
    def __init__(self, mark, text):
        self.mark, self.text, self.command = mark, text, None


class Section:
    def __init__(self, heading):
        self.heading, self.items, self.commands = heading, [], []


def sections_of(page):
    """The first is the headline, with its text as heading."""
    sections = []
    for block in re.sub(r"\\\n *", "", page).rstrip("\n").split("\n\n"):  # a backslash joins lines
        lines = block.split("\n")
        heading = [line for line in lines if not line.startswith(" ")]
        section = Section(" ".join(heading))
        for line in lines[len(heading):]:
            text, indent = line.lstrip(), len(line) - len(line.lstrip())
            if re.match(r"(trace-query|[AB]=)", text) and indent in (2, 5):
                if indent == 5:
                    section.items[-1].command = text
                else:
                    section.commands.append(text)
            elif indent == 2:
                mark, _, rest = text.partition(" ")
                section.items.append(Item(mark.rstrip(":"), rest))
            else:
                section.items[-1].text += " " + text
        sections.append(section)
    return sections


def parts_of(text, separator="; "):
    """What a separator divides outside of parentheses and quotes."""
    out, depth, quoted, start = [], 0, False, 0
    for place, char in enumerate(text):
        quoted ^= char == "`"
        depth += 0 if quoted else (char == "(") - (char == ")")
        if depth == 0 and not quoted and text.startswith(separator, place):
            out.append(text[start:place])
            start = place + len(separator)
    return [*out, text[start:]]


def groups(pattern, text, what):
    """The groups of a pattern with T for a time, that must match all of the text."""
    found = re.fullmatch(re.sub(r"\bT\b", lambda _: f"({TIME})", pattern), text)
    if not found:
        raise AssertionError(f"{what} is no sentence that this test knows: {text}")
    return found.groups()
