"""Fingerprints of functions: the same in any process, another for another body, value or enclosing variable."""

import functools
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from doublebubble.models.fingerprints import fingerprint

TABLE = np.arange(3.0)


def made(value: object) -> Callable[[Any], Any]:
    return lambda x: (x, value)


def uses_table(x: Any) -> Any:
    return x @ TABLE


class Adds:
    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, x: Any) -> Any:
        return x + self.value

    def method(self, x: Any) -> Any:
        return x - self.value


def test_equal_functions_are_equal_and_others_are_not() -> None:
    pairs: list[tuple[object, object, object]] = [
        (made(1), made(1), made(2)),
        (made(np.ones(3)), made(np.ones(3)), made(np.zeros(3))),
        (Adds(1.0), Adds(1.0), Adds(2.0)),
        (Adds(1.0).method, Adds(1.0).method, Adds(2.0).method),
        (Adds(1.0).method, Adds(1.0).method, Adds(1.0)),
        (functools.partial(made, 1), functools.partial(made, 1), functools.partial(made, 2)),
        (functools.partial(made, value=1), functools.partial(made, value=1), functools.partial(made, value=2)),
        (lambda x: x in {"a", "b"}, lambda x: x in {"b", "a"}, lambda x: x in {"a", "c"}),
        (lambda x, y=1: x, lambda x, y=1: x, lambda x, y=2: x),
        (lambda x, *, y=1: x, lambda x, *, y=1: x, lambda x, *, y=2: x),
        (lambda x: [np.sin(v) for v in x], lambda x: [np.sin(v) for v in x], lambda x: [np.cos(v) for v in x]),
    ]
    for one, same, other in pairs:
        assert fingerprint(one) == fingerprint(same) != fingerprint(other)


def test_values_of_the_module_count() -> None:
    global TABLE
    before, TABLE = fingerprint(uses_table), TABLE + 1
    after, TABLE = fingerprint(uses_table), TABLE - 1
    assert fingerprint(uses_table) == before != after


def test_what_cannot_be_read_counts_by_its_type() -> None:
    assert fingerprint(made(threading.Lock())) == fingerprint(made(threading.Lock()))
    assert fingerprint(made(threading.Lock())) != fingerprint(made(threading.RLock()))
    recursive: list[object] = []
    recursive.append(made(recursive))
    assert fingerprint(recursive[0])


def test_another_process_says_the_same() -> None:
    code = "from tests.models.test_fingerprints import *; print(fingerprint(made({'b', 'a'})), fingerprint(uses_table))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [fingerprint(made({"b", "a"})), fingerprint(uses_table)]
