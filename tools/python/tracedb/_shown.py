"""Texts of a trace, made harmless for eyes and terminals."""
import re
from typing import Any

_LONGEST = 200  # characters of a cell there
# What reorders or hides the text around it, or is no character.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def _escaped(match: "re.Match[str]") -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def shown(value: Any) -> str:
    text = "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    text = _OBEYED.sub(_escaped, text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST // 2]}\u2026{text[-_LONGEST // 2:]}"
