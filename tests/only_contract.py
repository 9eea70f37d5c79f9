"""A kind of contract for the import linter: modules that import of the package, and of other packages, what is listed.

A list of what is forbidden would let through every module that is added after it was written. `make layers` uses it.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

_PACKAGE = "doublebubble"


class OnlyContract(Contract):
    """`modules`, with all below them, import directly no module of the package but those of `may_import` and below.

    Where `packages` is given, they import none but those from elsewhere; the standard library is everybody's.
    """

    type_name = "only"

    modules: Any = fields.ListField(subfield=fields.StringField())
    may_import: Any = fields.ListField(subfield=fields.StringField(), required=False, default=None)
    packages: Any = fields.ListField(subfield=fields.StringField(), required=False, default=None)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Look at every import of every module."""
        found = [
            (module, imported)
            for module in self._sources(graph)
            for imported in sorted(graph.find_modules_directly_imported_by(module))
            if not _allowed(imported, self.may_import, self.packages)
        ]
        return ContractCheck(kept=not found, metadata={"found": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name each import that is not allowed."""
        for module, imported in check.metadata["found"]:
            output.print_error(f"{module} may not import {imported}", bold=False)

    def _sources(self, graph: ImportGraph) -> Iterator[str]:
        for name in self.modules:
            if name not in graph.modules:
                raise ValueError(f"contract {self.name}: there is no module {name}")
            yield from (name, *sorted(graph.find_descendants(name)))


def _allowed(imported: str, own: Iterable[str] | None, others: Iterable[str] | None) -> bool:
    if imported == _PACKAGE or imported.startswith(f"{_PACKAGE}."):
        return own is None or any(imported == name or imported.startswith(f"{name}.") for name in own)
    return others is None or imported in others or imported in sys.stdlib_module_names
