"""How seeds are changed: bytes flipped, cut, doubled and put in, and values in JSON replaced."""

import copy
import json
from collections.abc import Sequence

from hypothesis import strategies as st

PIECES = [
    *(b"\x00", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x02", b"\n", b"\r", b"\t", b"\x1b[2J", b"-"),
    *(b"NaN", b"1e999", b"-1", b"9" * 5000, b"[" * 2000, b'{"a":' * 2000, b'"', b"}", b"]", b",", b":", b"\\ud800"),
]
VALUES: list[object] = [
    *(None, True, -1, 0, 2, 3, 10**6, 2**31, 2**63, 2**64, 10**400, 0.5, -0.0, 1e308, 1e-320, "", "x", "\x1b[2J\n"),
    *("\ud800", "0:100", ":", "auto", "sound", "paper", "certified", "failed", [], {}, [[]], [0], [1.0, 0.0], {"0": 1}),
    *({"": None}, ["a"] * 100, "9" * 400),
]


@st.composite
def changed_bytes(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """A seed with a few changes, or a few bytes of no meaning."""
    content = bytearray(draw(st.sampled_from(list(seeds)) | st.binary(max_size=64)))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(content)))
        end = draw(st.integers(at, min(len(content), at + 40)))
        way = draw(st.sampled_from(("flip", "cut", "put", "double", "end")))
        if way == "flip" and at < len(content):
            content[at] ^= 1 << draw(st.integers(0, 7))
        elif way == "cut":
            del content[at:end]
        elif way == "put":
            content[at:at] = draw(st.sampled_from(PIECES))
        elif way == "double":
            content[at:at] = content[at:end]
        elif way == "end":
            del content[at:]
    return bytes(content)


@st.composite
def changed_json(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """A seed of JSON in which one to three values, at any depth, are others, missing or added."""
    content = json.loads(draw(st.sampled_from(list(seeds))))
    for _ in range(draw(st.integers(1, 3))):
        node = content
        while True:
            inner = list(node) if isinstance(node, dict) else list(range(len(node)))
            if not inner:
                break
            key = draw(st.sampled_from(inner))
            if isinstance(node[key], dict | list) and node[key] and draw(st.integers(0, 3)):
                node = node[key]
                continue
            way = draw(st.sampled_from(("replace", "replace", "remove", "add")))
            if way == "remove":
                del node[key]
            elif way == "add" and isinstance(node, dict):
                node[draw(st.sampled_from(("x", "7", "-1", "index", "")))] = copy.deepcopy(
                    draw(st.sampled_from(VALUES))
                )
            else:
                node[key] = copy.deepcopy(draw(st.sampled_from(VALUES)))
            break
    return json.dumps(content).encode()
