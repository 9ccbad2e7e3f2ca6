"""Writes XSpace files (*.xplane.pb) from plain lists: the wire format of protobuf, by the field numbers of xplane.proto and hlo.proto."""
import struct


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    """An integer, a float, text, or a message in bytes; a list: one after the other."""
    if isinstance(value, list):
        return b"".join(field(number, one) for one in value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(**fields):
    """message(f1=..., f7=...)"""
    return b"".join(field(int(name[1:]), value) for name, value in fields.items() if value is not None)


class Plane:
    """A plane whose events and stats are given by name. Texts of stats become refs, as JAX writes them."""

    def __init__(self, name, refs=True, **stats):
        self.name, self.refs, self.lines, self.events, self.stats, self.of_names = name, refs, [], {}, {}, {}
        self.own = [self.stat(key, value) for key, value in stats.items()]

    def id_of(self, names, name):
        return names.setdefault(name, len(names) + 1)

    def stat(self, key, value):
        own = self.id_of(self.stats, key)
        if isinstance(value, float):
            return message(f1=own, f2=value)
        if isinstance(value, int):
            return message(f1=own, f4=value)
        if isinstance(value, bytes):
            return message(f1=own, f6=value)
        return message(f1=own, f7=self.id_of(self.stats, value)) if self.refs else message(f1=own, f5=value)

    def named(self, name, display_name=None, **stats):
        """What holds for every event of the name."""
        self.of_names[name] = message(f4=display_name, f5=[self.stat(key, value) for key, value in stats.items()])

    def line(self, number, name, events, at=1000):
        """`events`: (name, offset in ps, duration in ps, stats)."""
        out = [message(f1=self.id_of(self.events, event), f2=offset, f3=duration, f4=[self.stat(*one) for one in stats.items()])
               for event, offset, duration, stats in events]
        self.lines.append(message(f1=number, f2=name, f3=at, f4=out))
        return self

    def bytes(self):
        entry = lambda key, value: message(f1=key, f2=value)
        return message(f2=self.name, f3=self.lines,
                       f4=[entry(key, message(f1=key, f2=name) + self.of_names.get(name, b"")) for name, key in self.events.items()],
                       f5=[entry(key, message(f1=key, f2=name)) for name, key in self.stats.items()], f6=self.own)


def program(number, name, instructions, frames=None):
    """A plane /host:metadata entry: `instructions`: (id, name, opcode, (type, dims), fields...) in one computation."""
    shape = lambda of: message(f2=of[0], f3=list(of[1]))
    body = [message(f1=op, f2=opcode, f3=shape(of), f35=key, **more) for key, op, opcode, of, more in instructions]
    module = message(f1=name, f3=message(f1="main", f2=body, f5=1), f5=number, f17=frames)
    return number, f"{name}({number})", message(f1=module)


def metadata(programs):
    plane = Plane("/host:metadata")
    for number, name, proto in programs:
        plane.events[name] = number
        plane.of_names[name] = message(f5=plane.stat("Hlo Proto", proto))
    return plane


def space(planes, **more):
    return message(f1=[plane.bytes() for plane in planes], **more)
