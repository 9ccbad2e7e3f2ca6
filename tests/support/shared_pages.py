"""Databases whose rows share one chain of overflow pages: a few bytes a row, megabytes when it is read."""
import sqlite3


def varint(data, at):
    """(value, behind it) of a number as SQLite writes it."""
    value = 0
    for place in range(9):
        byte = data[at + place]
        value = value << 7 | byte & 0x7f
        if byte < 0x80:
            return value, at + place + 1
    raise ValueError("a number of nine bytes")


def as_varint(value):
    out = [value & 0x7f]
    while value := value >> 7:
        out.insert(0, value & 0x7f | 0x80)
    return bytes(out)


def leaves(data, page, size):
    """Numbers of the leaf pages of a table, in order; pages are of `size` bytes."""
    at = (page - 1) * size + (100 if page == 1 else 0)
    if data[at] == 13:
        return [page]
    count = int.from_bytes(data[at + 3:at + 5], "big")
    cells = [int.from_bytes(data[at + 12 + 2 * i:at + 14 + 2 * i], "big") for i in range(count)]
    below = [int.from_bytes(data[at - at % size + cell:at - at % size + cell + 4], "big") for cell in cells]
    return [leaf for child in [*below, int.from_bytes(data[at + 8:at + 12], "big")] for leaf in leaves(data, child, size)]


def share_text(path, table, rows, size, tell_apart=True):
    """`rows` further rows, (number, text), of a table that has such columns: all of them with one text of `size` bytes; the
    first bytes of it are the row's own where that is asked for. Numbers of the rows: from 1."""
    database = sqlite3.connect(path)
    page_size, = database.execute("PRAGMA page_size").fetchone()
    database.execute(f"INSERT INTO {table} VALUES (1, ?)", ("x" * size,))
    database.executemany(f"INSERT INTO {table} VALUES (?, ?)", ((i, f"{i:08d}" + "y" * (page_size // 8)) for i in range(2, rows + 1)))
    database.commit()
    root, = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    database.close()
    data = bytearray(path.read_bytes())
    donor = None
    for page in leaves(data, root, page_size):
        start = (page - 1) * page_size
        count = int.from_bytes(data[start + 3:start + 5], "big")
        cells = []
        for i in range(count):
            at = start + int.from_bytes(data[start + 8 + 2 * i:start + 10 + 2 * i], "big")
            payload, behind = varint(data, at)
            row, behind = varint(data, behind)
            if donor is None:
                least = (page_size - 12) * 32 // 255 - 23
                local = least + (payload - least) % (page_size - 4)
                donor = payload, bytes(data[behind:behind + (local if local <= page_size - 35 else least) + 4])
            inside = bytearray(donor[1])
            if tell_apart and row > 1:
                inside[20:28] = b"%08d" % row
            cells.append(as_varint(donor[0]) + as_varint(row) + bytes(inside))
        end = page_size
        for i, cell in enumerate(cells):
            end -= len(cell)
            assert end >= 8 + 2 * count, "the rows are longer than those in their place"
            data[start + end:start + end + len(cell)] = cell
            data[start + 8 + 2 * i:start + 10 + 2 * i] = end.to_bytes(2, "big")
        data[start + 1:start + 8] = b"\0\0" + count.to_bytes(2, "big") + end.to_bytes(2, "big") + b"\0"
    path.write_bytes(data)
