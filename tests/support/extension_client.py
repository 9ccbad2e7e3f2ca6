"""Asks an index through Python's sqlite3 with libtracedb_sqlite.so. Run by tests with a Python that can load extensions.

Reads a request from standard input, JSON: library, uri, and steps, each a list of a word and its argument:
["sql", statement, parameters] -> {"rows": [{column: value}]} or {"error": text}; ["load"] loads once more;
["script", text] runs a statement without an answer; ["replace", from, to] renames a file; ["open", uri] goes on with a new connection, the old one stays open.
"threads": N asks the same on N threads at once, each with a connection, and answers once if all answers are the same.
Writes the list of answers to the sql steps, JSON."""
import json
import os
import sqlite3
import sys
import threading


def connect(request, uri):
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    connection.execute(request.get("before", "SELECT 1"))
    connection.enable_load_extension(True)
    connection.load_extension(request["library"])
    return connection


def ask(connection, statement, parameters):
    try:
        cursor = connection.execute(statement, parameters)
        names = [column[0] for column in cursor.description]
        return {"rows": [dict(zip(names, row)) for row in cursor]}
    except sqlite3.Error as error:
        return {"error": str(error)}


def answers(request):
    try:
        connection = connect(request, request["uri"])
    except sqlite3.Error as error:
        return [{"error": str(error)}]
    kept, found = [connection], []
    for word, *arguments in request["steps"]:
        if word == "sql":
            found.append(ask(connection, arguments[0], arguments[1] if len(arguments) > 1 else {}))
        elif word == "load":
            connection.load_extension(request["library"])
        elif word == "script":
            connection.execute(arguments[0])
        elif word == "replace":
            os.replace(*arguments)
        elif word == "open":
            kept.append(connection := connect(request, arguments[0]))
    return found


def main():
    request = json.load(sys.stdin)
    found = [None] * request.get("threads", 1)

    def work(place):
        found[place] = answers(request)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    json.dump(found[0] if all(answer == found[0] for answer in found) else [{"error": f"threads differ: {found}"}], sys.stdout)


if __name__ == "__main__":
    main()
