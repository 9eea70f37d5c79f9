"""What is a function, as far as it can be read? A digest of its code and of the values that it uses.

Two processes that make the same function in the same way get the same digest. What cannot be read (a connection, a
lock) counts by its type alone. Knows nothing of this package.
"""

import functools
import hashlib
import pickle
import types
from collections.abc import Iterator

import joblib


def fingerprint(value: object) -> str:
    """SHA-256 over what the value is made of."""
    return hashlib.sha256("|".join(_parts(value, set())).encode()).hexdigest()


def _parts(value: object, seen: set[int]) -> Iterator[str]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, types.MethodType):
        yield f"method {value.__func__.__qualname__}"
        yield from _parts(value.__func__, seen)
        yield from _parts(value.__self__, seen)
    elif isinstance(value, functools.partial):
        for part in (value.func, *value.args, *(value.keywords[name] for name in sorted(value.keywords))):
            yield from _parts(part, seen)
    elif isinstance(value, types.FunctionType):
        yield from _function(value, seen)
    elif isinstance(value, types.ModuleType):
        yield f"module {value.__name__} {getattr(value, '__version__', '')}"
    else:
        yield _object(value)
        call = vars(type(value)).get("__call__")
        if isinstance(call, types.FunctionType):
            yield from _code(call.__code__)


def _function(function: types.FunctionType, seen: set[int]) -> Iterator[str]:
    """Its code, its defaults, and the values of the enclosing function and of its module that it names."""
    yield from _code(function.__code__)
    used = list(function.__defaults__ or ()) + [
        (function.__kwdefaults__ or {}).get(k) for k in sorted(function.__kwdefaults__ or {})
    ]
    used += [cell.cell_contents for cell in function.__closure__ or () if _filled(cell)]
    used += [function.__globals__[name] for name in sorted(_names(function.__code__)) if name in function.__globals__]
    for value in used:
        yield from _parts(value, seen)


def _code(code: types.CodeType) -> Iterator[str]:
    yield f"code {code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars}"
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code(constant)
        elif isinstance(constant, frozenset):
            yield f"set {sorted(map(repr, constant))}"  # its own order changes from process to process
        else:
            yield repr(constant)


def _names(code: types.CodeType) -> set[str]:
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*inner)


def _filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # a variable of the enclosing function that has no value yet
        return False


def _object(value: object) -> str:
    """Its type and the digest of its content, arrays included; its type alone where that cannot be read."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    try:
        return f"{kind} {joblib.hash(value, 'sha1')}"
    except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError):
        return f"{kind} unreadable"
