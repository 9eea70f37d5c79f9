"""The lines of records.jsonl and of attacks: an entry as JSON, closed by a checksum that ties it to its run.

The checksum covers the specification's hash and every byte of the entry, so a changed byte, a line from another run
and a specification edited after the fact are all found, and found at their line.
"""

import hashlib
from typing import TypeVar

from pydantic import ValidationError

from doublebubble.config import Settings, first_problem
from doublebubble.errors import RunError
from doublebubble.json_text import parse_json
from doublebubble.runs.spec import canonical

_CHECK = b',"check":"'
_END = b'"}'
_LENGTH = 16

Entry = TypeVar("Entry", bound=Settings)


def encode(entry: Settings, spec_digest: str) -> bytes:
    """One line, newline included."""
    body = canonical(entry.model_dump(mode="json")).encode()
    return body[:-1] + _CHECK + _checksum(body[:-1], spec_digest) + _END + b"\n"


def decode(line: bytes, spec_digest: str, where: str, kind: type[Entry]) -> Entry:
    """The record, or other entry of this kind, of a line without its newline, or an error that begins with `where`."""
    body, found, tail = line.rpartition(_CHECK)
    if not found or len(tail) != _LENGTH + len(_END) or not tail.endswith(_END):
        raise RunError(f"{where}: damaged, expected a record that ends with its checksum")
    if tail[:_LENGTH] != _checksum(body, spec_digest):
        raise RunError(f"{where}: damaged, the record does not match its checksum")
    try:
        return kind.model_validate(parse_json(body + b"}"))
    except ValidationError as error:
        raise RunError(f"{where}: not a record of this version ({first_problem(error)})") from error
    except ValueError as error:
        raise RunError(f"{where}: not a record of this version ({error})") from error


def _checksum(body: bytes, spec_digest: str) -> bytes:
    return hashlib.sha256(spec_digest.encode() + body).hexdigest()[:_LENGTH].encode()
