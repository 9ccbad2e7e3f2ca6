"""The recipes of the cookbook as tests run them: from their files, with the values that they declare."""
import re

from trace_cases import ROOT

FOLDER = ROOT / "schema" / "cookbook"
DECLARED = re.compile(r":(\w+) = ([^,;\n]+),")


def value_of(text):
    number = float(text) if re.fullmatch(r"[0-9.]+", text) else text
    return int(number) if isinstance(number, float) and number == int(number) else number


def recipes():
    """(name, SQL, values of its parameters) of each."""
    for path in sorted(FOLDER.glob("*.sql")):
        sql = path.read_text()
        yield path.stem, sql, {name: value_of(value) for name, value in DECLARED.findall(sql)}


def all_recipes():
    """One text with all of them, the values in their places."""
    texts = []
    for _, sql, values in recipes():
        for name, value in values.items():
            sql = re.sub(rf":{name}\b(?! =)", f"'{value}'" if isinstance(value, str) else str(value), sql)
        texts.append(sql.strip().rstrip(";") + ";\n")
    return "".join(texts)
