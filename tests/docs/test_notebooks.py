"""The tutorials: each runs from its first cell to its last, and its page shows what it printed."""

import importlib.util
import json
from pathlib import Path

import nbformat
import pytest

from docs import notebooks

TUTORIALS = sorted(notebooks.TUTORIALS.glob("*.ipynb"))


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_tutorial_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.stem == "ray_cluster" and importlib.util.find_spec("ray") is None:
        assert "ray" in path.read_text()  # without Ray there is nothing to run it on
        return
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    ran = notebooks.execute(path, tmp_path)
    code = [cell for cell in ran.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    shown = json.dumps([cell.outputs for cell in code])
    if path.stem == "ray_cluster":
        assert code[-1].outputs[-1].data["text/plain"] == "True"
    if path.stem == "published_table":
        assert "0.398 0.46664" in shown  # the three lines by hand, and the table above them
        assert "39.8%" in shown
    if path.stem == "own_model":
        assert (tmp_path / "page.html").stat().st_size > 10_000


def test_outputs_are_kept_and_name_no_folder() -> None:
    assert [path.stem for path in TUTORIALS] == ["own_model", "published_table", "ray_cluster", "sigma_and_n"]
    for path in TUTORIALS:
        notebook = nbformat.read(path, as_version=4)
        assert any(cell.get("outputs") for cell in notebook.cells), f"run docs/notebooks.py run {path.name}"
        assert "site-packages" not in path.read_text()


def test_a_page_has_text_code_and_outputs() -> None:
    made = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# Title"),
            nbformat.v4.new_code_cell(
                "1 + 1",
                outputs=[
                    nbformat.v4.new_output("stream", name="stdout", text="said\n"),
                    nbformat.v4.new_output("execute_result", data={"text/plain": "2"}),
                    nbformat.v4.new_output("display_data", data={"image/png": "aGVsbG8=\n", "text/plain": "<Figure>"}),
                ],
            ),
        ]
    )
    page = notebooks.markdown(made)
    assert page.startswith("# Title\n\n```python\n1 + 1\n```\n\n```text\nsaid\n```\n\n```text\n2\n```\n\n![")
    assert "](data:image/png;base64,aGVsbG8=)" in page
    assert "<Figure>" not in page
    assert notebooks.code(made) == "1 + 1\n"
