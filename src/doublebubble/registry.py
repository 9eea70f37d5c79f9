"""Which methods there are: settings, help, figures, pages and experiments all ask here, and nowhere else.

A method is one object, registered by the module that defines it. The modules of `doublebubble/methods` are found by
looking there, those of other packages by the entry point `doublebubble.methods`, so that adding a method changes no
other file. May import only types and errors.
"""

import importlib
import pkgutil
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol as Interface
from typing import TypeVar

from doublebubble.errors import SettingError
from doublebubble.types import Method, Protocol

AUTO: Method = "auto"
"""Stands for the best method, chosen per input before its certify draws."""
_PACKAGE = "doublebubble.methods"


class MethodCard(Interface):
    """What may be known of a method without running it."""

    @property
    def name(self) -> Method:
        """What settings, records and columns call it."""

    @property
    def uses(self) -> str:
        """One line on what it uses."""

    @property
    def protocols(self) -> frozenset[Protocol]:
        """The protocols that know it."""

    @property
    def label(self) -> str:
        """Its name on figures and pages."""

    @property
    def colour(self) -> str:
        """Its colour there."""

    @property
    def marker(self) -> str:
        """Its marker there, as matplotlib names it."""

    @property
    def dashes(self) -> str:
        """The dashes of its line there: solid, dashed or dotted."""

    @property
    def steered(self) -> bool:
        """Whether the kind of gradient that is asked for moves its radii."""

    @property
    def rank(self) -> int:
        """Its place among methods, the simplest first: among equal radii the simpler method is named."""


Registered = TypeVar("Registered", bound=MethodCard)
_METHODS: dict[Method, MethodCard] = {}
_LOADED: set[str] = set()


def register(method: Registered) -> Registered:
    """Make a method known; a second one under the same name is an error."""
    if method.name == AUTO or type(_METHODS.get(method.name, method)) is not type(method):
        raise SettingError(f"method {method.name}: there is one of this name already")
    _METHODS[method.name] = method
    return method


def forget(name: Method) -> None:
    """Make a method unknown again."""
    _METHODS.pop(name, None)


def cards(protocol: Protocol | None = None) -> tuple[MethodCard, ...]:
    """All methods, or those that a protocol knows, the simplest first."""
    _load()
    known = (card for card in _METHODS.values() if protocol is None or protocol in card.protocols)
    return tuple(sorted(known, key=lambda card: (card.rank, card.name)))


def names(protocol: Protocol | None = None) -> tuple[Method, ...]:
    """The names of all methods, or of those that a protocol knows, the simplest first."""
    return tuple(card.name for card in cards(protocol))


def listed() -> tuple[Method, ...]:
    """The names of all methods without importing any, those of other packages by their entry points: for help texts."""
    own = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent / "methods")]))
    return tuple(sorted({*own, *_METHODS, *(entry.name for entry in entry_points(group=_PACKAGE))}))


def card(name: Method) -> MethodCard:
    """The method of this name."""
    _load()
    if name not in _METHODS:
        raise SettingError(f"methods: expected some of {', '.join(names())}, or auto, got {name!r}")
    return _METHODS[name]


def _load() -> None:
    """Import the modules that register methods, once."""
    if _LOADED:
        return
    _LOADED.add(_PACKAGE)
    package = importlib.import_module(_PACKAGE)
    for module in pkgutil.iter_modules(package.__path__, f"{_PACKAGE}."):
        importlib.import_module(module.name)
    for entry in entry_points(group=_PACKAGE):
        entry.load()
