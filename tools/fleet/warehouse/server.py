"""One ClickHouse server, by its HTTP interface, which has been the same since 18.16. Standard library only."""
import http.client
import os
import urllib.parse


class ServerError(Exception):
    """What a server answered, or that it did not; in one line."""


class Unreachable(ServerError):
    """It may be there later."""


class Server:
    def __init__(self, url, database="default"):
        self.url = url
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url}: a server is http://HOST:8123 or https://HOST:8443")
        self._parts, self._database = parts, database

    def run(self, sql, rows=None, **settings):
        """The answer as text. `rows`: an iterable of bytes that an INSERT takes."""
        settings = {"database": self._database, "wait_end_of_query": 1, **settings}  # errors as errors, not behind half an answer
        if rows is not None:
            settings["query"] = sql
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._parts.hostname, self._parts.port, timeout=3600)
        headers = {"X-ClickHouse-User": os.environ.get("CLICKHOUSE_USER", "default"),
                   "X-ClickHouse-Key": os.environ.get("CLICKHOUSE_PASSWORD", "")}
        if rows is not None:
            headers["Transfer-Encoding"] = "chunked"
        try:
            connection.request("POST", "/?" + urllib.parse.urlencode(settings), sql.encode() if rows is None else rows, headers,
                               encode_chunked=rows is not None)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", errors="replace")
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{self.url}: {error or type(error).__name__}") from error
        finally:
            connection.close()
        if answer.status != 200:
            raise ServerError(f"{self.url}: {text.strip() or answer.reason}")
        return text

    def rows(self, sql):
        """The answer as lists of texts; of columns whose text has no tab, newline or backslash."""
        return [line.split("\t") for line in self.run(sql + "\nFORMAT TabSeparated").splitlines()]


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
