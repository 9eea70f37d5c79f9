"""Lines of records: given back exactly, and every change of a byte or of the run is found."""

import hashlib
import json

import numpy as np
import pytest

from doublebubble.errors import RunError
from doublebubble.runs.encoding import decode, encode
from doublebubble.runs.record import Record
from tests.runs.samples import certificate


def test_lines_give_the_record_back() -> None:
    for record in (
        Record.of(certificate(5, centres=1), "00"),
        Record.failed(6, None, 'quote " newline \n ü,"check":"'),
    ):
        line = encode(record, "digest")
        assert line.count(b"\n") == 1
        assert decode(line[:-1], "digest", "here", Record) == record
        assert json.loads(line)["index"] == record.index


def test_every_flipped_byte_is_found() -> None:
    line = encode(Record.of(certificate(5)), "digest")[:-1]
    rng = np.random.default_rng(0)
    for at in range(len(line)):
        changed = bytearray(line)
        changed[at] ^= 1 << int(rng.integers(8))
        with pytest.raises(RunError, match="line 4: damaged"):
            decode(bytes(changed), "digest", "line 4", Record)


def test_a_line_of_another_run_is_found() -> None:
    with pytest.raises(RunError, match="does not match its checksum"):
        decode(encode(Record.of(certificate()), "one run")[:-1], "another run", "line 1", Record)


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"evidence":' + b"[" * 900 + b"]" * 900, b"1" * 10_000, b'{"radius":NaN', b"\xff", b"3"]
)
def test_a_line_with_a_right_checksum_and_a_wrong_content_is_named(body: bytes) -> None:
    line = body + b',"check":"' + hashlib.sha256(b"digest" + body).hexdigest()[:16].encode() + b'"}'
    with pytest.raises(RunError, match=r"^line 3: not a record of this version"):
        decode(line, "digest", "line 3", Record)
