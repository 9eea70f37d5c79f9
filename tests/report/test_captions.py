"""Captions: which runs the numbers come from, and what stands behind them."""

from pathlib import Path

import pytest

from doublebubble import CertifyConfig
from doublebubble.errors import InputError
from doublebubble.report import plots
from doublebubble.report.captions import provenance
from doublebubble.runs.store import RunStore, read_run
from tests.runs.samples import certificate, spec


def test_captions_name_every_protocol_level_and_number_of_draws(tmp_path: Path) -> None:
    runs = []
    for number, (n, indices) in enumerate([(100, "0:2"), (300, "0:1")]):
        made = spec(indices, sigma=0.25 * (number + 1), config=CertifyConfig(n=n, alpha=0.01))
        with RunStore(tmp_path / str(number), made) as store:
            for index in made.index_list:
                store.append(certificate(index))
        runs.append(read_run(tmp_path / str(number)))
    words = provenance(runs)
    for part in ("digits (test split); 1, 2 inputs in each run; sigma 0.25, 0.5.", "alpha 0.01", "n 100, 300 draws"):
        assert part in words
    assert "not guaranteed" not in words
    assert provenance(runs[:1]).startswith("digits (test split); 2 inputs; sigma 0.25. Protocol sound")
    assert provenance(runs[1:]).startswith("digits (test split); 1 input; sigma 0.5. Protocol sound")


def test_a_run_without_records_is_no_figure(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run", spec()):
        pass
    with pytest.raises(InputError, match="at least one record"):
        plots.run_figure(read_run(tmp_path / "run"), "title")
