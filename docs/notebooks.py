"""The tutorials: notebooks that are executed here, shown by the site, and run by the tests.

    python docs/notebooks.py run [FILE...]      # execute them (all, or some) and keep what they print
    python docs/notebooks.py code FILE          # the code of one, as a script

Uses nbformat; executing needs nbclient and ipykernel too.
"""

import base64
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat

TUTORIALS = Path(__file__).parent / "tutorials"
LONGEST = 120
"""Seconds that a cell may take."""


def execute(path: Path, folder: Path) -> nbformat.NotebookNode:
    """The notebook with fresh outputs, run with `folder` as its working directory; an error of a cell is raised."""
    from nbclient import NotebookClient

    notebook: nbformat.NotebookNode = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata.clear()
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=LONGEST, kernel_name="python3", resources=resources).execute()
    return notebook


def markdown(notebook: nbformat.NotebookNode) -> str:
    """The notebook as a page: its text, its code, and what that printed or drew."""
    return "\n\n".join(part for cell in notebook.cells for part in _parts(cell)) + "\n"


def code(notebook: nbformat.NotebookNode) -> str:
    """The code alone, as a script."""
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code") + "\n"


def _parts(cell: nbformat.NotebookNode) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source
        return
    yield f"```python\n{cell.source}\n```"
    for output in cell.outputs:
        if output.output_type == "stream":
            yield f"```text\n{output.text.rstrip()}\n```"
        elif "image/png" in output.get("data", {}):
            image = base64.b64encode(base64.b64decode(output.data["image/png"])).decode()
            words = cell.metadata.get("alt", "The figure that the code above draws")
            yield f"![{words}](data:image/png;base64,{image})"
        elif "text/plain" in output.get("data", {}):
            yield f"```text\n{output.data['text/plain'].rstrip()}\n```"


def _write(path: Path) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        notebook = execute(path, Path(folder))
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata.clear()
        if cell.cell_type == "code":  # what a package mutters there names folders of this machine
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata.clear()
    nbformat.write(notebook, path)


def main(words: list[str]) -> None:
    """Run or print, as the words say."""
    if words[:1] == ["code"] and len(words) == 2:
        sys.stdout.write(code(nbformat.read(Path(words[1]), as_version=4)))
    elif words[:1] == ["run"]:
        for path in [Path(word) for word in words[1:]] or sorted(TUTORIALS.glob("*.ipynb")):
            _write(path)
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
