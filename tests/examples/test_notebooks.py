"""The notebooks run from start to end in their own kernels and show what their text says."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.html_checker import check_html

if TYPE_CHECKING:
    from nbformat import NotebookNode

FOLDER = Path("examples") / "notebooks"
NAMES = ("first-look", "tables-and-figures", "comparing-papers")


class Ran:
    """The outputs of a notebook that ran, found by a part of a cell's source."""

    def __init__(self, notebook: "NotebookNode") -> None:
        self._cells = [cell for cell in notebook.cells if cell.cell_type == "code"]

    def html(self, source: str) -> str:
        """The HTML of a cell's last line."""
        shown = [output.data["text/html"] for output in self._outputs(source) if "text/html" in output.get("data", {})]
        return str(shown[-1])

    def text(self, source: str) -> str:
        """What a cell prints, and the text of what it displays."""
        outputs = self._outputs(source)
        return "\n".join(output.text if "text" in output else output.data["text/plain"] for output in outputs)

    def kinds(self, source: str) -> set[str]:
        """The MIME types of a cell's outputs."""
        return {kind for output in self._outputs(source) for kind in output.get("data", {})}

    def complaints(self) -> list[str]:
        """What the cells write to stderr."""
        return [one.text for cell in self._cells for one in cell.outputs if one.get("name") == "stderr"]

    def every_html(self) -> list[str]:
        return [
            output.data["text/html"]
            for cell in self._cells
            for output in cell.outputs
            if "text/html" in output.get("data", {})
        ]

    def _outputs(self, source: str) -> list["NotebookNode"]:
        [cell] = [cell for cell in self._cells if source in cell.source]
        return list(cell.outputs)


@pytest.fixture(scope="module")
def run(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Ran]]:
    """Runs a notebook with the Python of this test; a failing cell raises CellExecutionError.

    All notebooks share one kernel, which forgets its names before each, so that the libraries are loaded once.
    """
    import nbformat
    from jupyter_client.manager import KernelManager
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell

    folder = tmp_path_factory.mktemp("jupyter")
    kernel = folder / "kernels" / "tests"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "tests", "language": "python"}))
    places = {"JUPYTER_PATH": folder, "JUPYTER_RUNTIME_DIR": folder / "run", "IPYTHONDIR": folder / "ipython"}
    with pytest.MonkeyPatch.context() as environment:
        for variable, place in places.items():
            environment.setenv(variable, str(place))
        manager = KernelManager(kernel_name="tests")
        manager.start_kernel(cwd=str(root / FOLDER))

        def run_notebook(name: str) -> Ran:
            notebook = nbformat.read(root / FOLDER / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
            notebook.cells.insert(0, new_code_cell("%reset -f"))  # type: ignore[no-untyped-call]
            client = NotebookClient(notebook, km=manager, timeout=300)
            client.execute(cleanup_kc=False)
            assert client.kc is not None
            client.kc.stop_channels()
            del notebook.cells[0]
            if kept := os.environ.get("KEEP_NOTEBOOKS"):
                nbformat.write(notebook, Path(kept) / f"{name}.ipynb")  # type: ignore[no-untyped-call]
            ran = Ran(notebook)
            assert ran.complaints() == []
            return ran

        yield run_notebook
        manager.shutdown_kernel(now=True)
        manager.context.destroy()


@pytest.mark.slow
def test_a_first_look(run: Callable[[str], Ran]) -> None:
    ran = run("first-look")
    assert "7 pages, 96 passages, 9 tables, 3 figures, 10 equations, 18 references" in ran.text("added = library.add")
    assert "<mark>89.80</mark>" in ran.html("answer = library.ask")
    assert "data:image/png;base64," in ran.html("answer = library.ask")
    assert "data:image/png;base64," in ran.html("library.show(tables[0])")
    assert re.search(r"/table-5 page 4 \([\d., ]+\) '89\.80'", ran.text("for claim in answer.claims"))
    assert "Table 5, row '2', column 'Ensemble Entity F1': 89.80" in ran.text("[exhibit] =")
    assert "Low-Rank Adaptation" in check_html(ran.html("defined = library.ask")).text
    assert ran.text("missing = library.ask").startswith("evidence")
    asked = ran.text("await asyncio.gather")
    assert "256" in asked
    assert "0.9687" in asked
    for html in ran.every_html():
        check_html(html)


@pytest.mark.slow
def test_tables_and_figures(run: Callable[[str], Ran]) -> None:
    ran = run("tables-and-figures")
    listed = ran.html("floats = ")
    assert all(f"<th>Table {number}</th>" in listed for number in range(1, 10))
    assert "RoBERTa-large Entity F1" in ran.html('frame = floats["Table 5"]')
    means = re.findall(r"(\d\d\.\d+) +(\d\d\.\d+)$", ran.text("printed ="), flags=re.MULTILINE)
    assert len(means) == 6
    assert all(computed == printed for computed, printed in means)
    assert "0.19" in ran.text("spread =")
    assert re.search(r"Ensemble\s+7", ran.text("best ="))
    assert "image/png" in ran.kinds("plt.subplots")
    assert "data:image/png;base64," in ran.html('library.show(floats["Figure 2"])')
    assert "0.83" in ran.text('print(floats["Figure 1"].text)')
    assert "page 4" in ran.text("cell.place.where")
    assert "Always O" in ran.text("to_csv()")


@pytest.mark.slow
def test_comparing_papers(run: Callable[[str], Ran]) -> None:
    ran = run("comparing-papers")
    for file in ("ner-report.pdf", "seed-intervals.pdf"):
        assert file in check_html(ran.html("library.show(library.papers())")).text
    assert "<mark>0.31</mark>" in ran.html("answer = library.ask")
    by_paper = ran.html("question =")
    assert "89.51 ± 0.20" in by_paper
    assert "<td>0.20</td>" in by_paper
    assert "Wilson intervals" in ran.html("narrow =")
    assert "<mark>0.7620</mark>" in ran.html("narrow =")
    assert "88.77 to 89.19" in ran.html("pd.concat")
    found = check_html(ran.html("found = library.neighbourhood"))
    assert {"svg", "table"} <= found.tags
    assert "RoBERTa-base" in found.text
    shows = ran.html("names = {entity.id")
    assert {"ner-report.pdf", "seed-intervals.pdf"} <= set(re.findall(r"[a-z-]+\.pdf", shows))
    assert "MultiDiGraph" in ran.text("to_networkx()")
    assert "Sources" in check_html(ran.html("context = library.retrieve")).text
    assert ran.text("render_context(context)").startswith("-----Entities-----\n```csv\nid,entity,type,")


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_have_no_outputs(root: Path, name: str) -> None:
    import nbformat

    notebook = nbformat.read(root / FOLDER / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not cell.get("outputs"), f"{name}: remove the outputs: jupyter nbconvert --clear-output --inplace"
        assert cell.get("execution_count") is None
        assert cell.id.startswith(name)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}


def test_every_notebook_is_tested(root: Path) -> None:
    assert {file.stem for file in (root / FOLDER).glob("*.ipynb")} == set(NAMES)
