"""Every module has its twin: src/doublebubble/a/b.py is tested in tests/a/test_b.py."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
TOGETHER = {
    "audit/oracles": "audit/test_oracles.py",
    "audit/reverify": "audit/reverify/test_certificates.py",
    "cli/audit.py": "audit/reverify/test_runs.py",
    "facade/auditing.py": "audit/reverify/test_runs.py",
    "reproduce/answers.py": "reproduce/test_claims.py",
    "reproduce/certified_accuracy.py": "reproduce/test_experiments.py",
    "reproduce/claims_page.py": "reproduce/test_claims.py",
    "reproduce/curves.py": "reproduce/test_experiments.py",
    "reproduce/evidence.py": "reproduce/test_claims.py",
    "reproduce/improvement_by_radius.py": "reproduce/test_experiments.py",
    "reproduce/improvement_by_sigma.py": "reproduce/test_experiments.py",
    "reproduce/macer.py": "reproduce/test_experiments.py",
    "reproduce/results.py": "reproduce/test_experiments.py",
    "reproduce/step_size.py": "reproduce/test_experiments.py",
    "reproduce/timing.py": "reproduce/test_experiments.py",
    "reproduce/winners.py": "reproduce/test_experiments.py",
}
"""Modules, or folders of them, that one file tests against one truth: all oracles, the verifier, all experiments."""


def without_twin(source: Path, tests: Path) -> list[str]:
    """The modules under `source` that no file under `tests` is named after."""
    missing = []
    for path in sorted(source.rglob("*.py")):
        module = path.relative_to(source)
        twin = module.with_name(f"test_{module.name}")
        places = [twin.as_posix(), *(TOGETHER[name] for name in (str(module), str(module.parent)) if name in TOGETHER)]
        if path.name not in ("__init__.py", "__main__.py") and not any((tests / place).is_file() for place in places):
            missing.append(module.as_posix())
    return missing


def test_every_module_has_its_twin() -> None:
    assert without_twin(ROOT / "src" / "doublebubble", ROOT / "tests") == []


def test_what_is_tested_together_is_still_there() -> None:
    for module, tests in TOGETHER.items():
        assert (ROOT / "src" / "doublebubble" / module).exists(), module
        assert (ROOT / "tests" / tests).is_file(), tests


def test_a_module_without_a_twin_is_named(tmp_path: Path) -> None:
    for name in ("src/a/one.py", "src/a/two.py", "src/a/__init__.py", "tests/a/test_one.py", "tests/test_two.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert without_twin(tmp_path / "src", tmp_path / "tests") == ["a/two.py"]
