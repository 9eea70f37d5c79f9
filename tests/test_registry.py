"""One registry: a method defined in one file is found in settings, help, records, figures and on the page."""

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import doublebubble as db
from doublebubble import registry
from doublebubble.cli.certify import complete_methods
from doublebubble.errors import SettingError
from doublebubble.report.page import page_text
from doublebubble.report.plots import method_lines
from doublebubble.runs.store import read_run
from tests.digits import digits, digits_model

ROOT = Path(__file__).parents[1]


@pytest.fixture
def toy() -> Iterator[None]:
    """The toy method, known while a test runs."""
    from tests.methods.toy import Toy

    registry.register(Toy())
    yield
    registry.forget("toy")


def test_the_packages_own_methods_are_found_the_simplest_first() -> None:
    assert registry.names("paper") == ("cohen", "single", "boundary", "double")
    assert registry.names("sound")[:6] == ("cohen", "single", "boundary", "double", "dipole", "first_order")
    modules = {path.stem for path in (ROOT / "src/doublebubble/methods").iterdir()} - {"__init__", "__pycache__"}
    assert set(registry.names()) == modules == set(registry.listed())


def test_every_method_can_be_told_from_the_others() -> None:
    cards = registry.cards()
    for what in ("label", "colour", "marker", "rank", "uses"):
        assert len({getattr(card, what) for card in cards}) == len(cards)


def test_unknown_and_doubled_names_are_refused(toy: None) -> None:
    with pytest.raises(SettingError, match="expected some of cohen"):
        registry.card("triple")

    class Other:
        name = "toy"
        uses, label, colour, marker, dashes = "", "", "", "", "solid"
        protocols: frozenset[str] = frozenset()
        rank, steered = 0, False

    with pytest.raises(SettingError, match="one of this name already"):
        registry.register(Other())  # type: ignore[type-var]


def test_settings_name_methods_as_people_do() -> None:
    assert db.CertifyConfig().methods == ("auto",)
    assert db.CertifyConfig(methods="all").methods == registry.names("sound")  # type: ignore[arg-type]
    assert db.CertifyConfig(methods="cohen, dipole").methods == ("cohen", "dipole")  # type: ignore[arg-type]
    assert db.CertifyConfig(protocol="paper").methods == registry.names("paper")
    with pytest.raises(SettingError, match="auto"):
        db.CertifyConfig(methods=("cohen", "auto"))


def test_completion_goes_on_after_a_comma() -> None:
    assert complete_methods("co") == ["cohen"]
    assert "auto" in complete_methods("")
    assert complete_methods("cohen,dip") == ["cohen,dipole"]
    assert "cohen,auto" not in complete_methods("cohen,")


@pytest.mark.not_reverified("the toy method has no verifier")
def test_a_method_in_one_file_is_found_everywhere(toy: None, tmp_path: Path) -> None:
    """In a record, a figure and on the page; `all` asks for it, and its colour and label are its own."""
    images, labels = digits()
    data = (images[-12:], labels[-12:])
    run = db.certify(digits_model(), data, sigma=0.25, n=500, n0=50, methods="all", out=tmp_path / "run", quiet=True)
    assert (run.frame["radius_toy"] > 0).any()
    (line,) = method_lines(run.frame, ["toy"], 2.0)
    assert (line.label, line.colour, line.marker) == ("toy method", "#123456", "*")
    (panel,) = run.plot().axes
    drawn = {line.get_label(): line.get_color() for line in panel.get_lines()}
    assert drawn["toy method"] == "#123456"
    page = page_text([read_run(tmp_path / "run")], {})
    assert "toy method" in page
    assert "#123456" in page
    record = json.loads((tmp_path / "run" / "records.jsonl").read_text().splitlines()[0])
    assert "toy" in json.dumps(record)


def test_help_lists_a_method_of_another_package_without_importing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry.names()
    entry = EntryPoint("far", "no.such.module", "doublebubble.methods")
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group == entry.group else [])
    assert set(registry.listed()) == {"far", *known}


def test_help_lists_a_method_that_a_file_adds() -> None:
    """The command as a user's process runs it, with one more file imported."""
    code = "import sys, tests.methods.toy, doublebubble.cli as c; sys.argv[1:] = ['certify', '--help']; c.main()"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert "toy" in shown.stdout


def test_auto_never_chooses_what_promises_nothing(toy: None) -> None:
    images, _ = digits()
    smoothed = db.SmoothedClassifier(digits_model(), 0.25, 10)
    cert = db.Certifier(smoothed, db.CertifyConfig(n=1000, n0=100)).certify(images[-1])
    assert list(cert.radii) == [cert.method]
    assert cert.method != "toy"
