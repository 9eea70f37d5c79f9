"""Which random numbers serve what."""

from tests.mutants.mutant import Mutant

_NAME = 'name = f"doublebubble/2|{self.seed}|{self.index}|{self.stage}|{self.part}"'
_OWN = ("test_streams.py::test_every_name_has_numbers_of_its_own",)

MUTANTS = (
    Mutant(
        "stage-not-in-the-name",
        "streams.py",
        _NAME,
        _NAME.replace("|{self.stage}", ""),
        "Select, search and certify would draw the same noise.",
        _OWN,
        quick=True,
    ),
    Mutant(
        "index-not-in-the-name",
        "streams.py",
        _NAME,
        _NAME.replace("|{self.index}", ""),
        "One unlucky noise would spoil all inputs of a run at once, while intervals take inputs for independent.",
        _OWN,
    ),
    Mutant(
        "seed-of-32-bits",
        "streams.py",
        "words = np.frombuffer(stream.digest(), np.uint32).tolist()",
        "words = np.frombuffer(stream.digest(), np.uint32).tolist()[:1]",
        "Among a hundred thousand streams two are expected to share their noise, select and certify perhaps.",
        ("test_streams.py::test_the_numbers_of_a_stream_never_change",),
    ),
    Mutant(
        "spare-values-used-twice",
        "streams.py",
        "            self._spares -= kept",
        "            self._spares -= 0",
        "Draws that come in pieces would repeat noise, so they would not be independent.",
        ("test_streams.py::test_values_do_not_depend_on_the_pieces",),
    ),
)
