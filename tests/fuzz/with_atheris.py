"""Fuzz one reader without end, guided by coverage: python -m tests.fuzz.with_atheris record [seconds]

Needs the extra `fuzz`. What is found goes to tests/fuzz/corpus/READER, where the test suite replays it.
"""

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["doublebubble"]):
    from tests.fuzz.readers import READERS
    from tests.fuzz.test_readers import CORPUS, check


def main() -> None:
    """Seeds are the reader's own and what the corpus holds; a crash is written there under its digest."""
    name, seconds = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "60"
    found, scratch = CORPUS / name, Path(".fuzz") / name
    for folder in (found, scratch):
        folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(READERS[name].seeds()):
        (scratch / f"seed-{number}").write_bytes(seed)
    options = [f"-artifact_prefix={found}/", f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=4096"]
    atheris.Setup([sys.argv[0], str(scratch), str(found), *options], lambda content: check(name, content))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
