"""Certifications in MLflow and in Weights & Biases: two callbacks of `db.certify`, neither of them a dependency.

    python -m examples.trackers mlflow      # or wandb

certifies 20 digits of a small model and logs settings, certified accuracy as it grows, the summary and the page.
"""

import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import doublebubble as db
from doublebubble.runs.record import Record
from doublebubble.runs.spec import RunSpec


class Standing:
    """What a tracker logs of each record: the certified accuracy and the average radius of all records so far."""

    def __init__(self, run: db.Run) -> None:
        self.done, self._right, self._sum = 0, 0, 0.0
        for record in run.records:
            self.add(record)

    def add(self, record: Record) -> dict[str, float]:
        """The numbers with one record more; whatever is not correct counts with radius 0."""
        self.done += 1
        if record.correct:
            self._right += 1
            self._sum += record.radius
        return {"accuracy": self._right / self.done, "average_radius": self._sum / self.done}


def settings_of(run: db.Run) -> dict[str, Any]:
    """What determines the numbers of a run, in a flat form."""
    assert isinstance(run.spec, RunSpec)
    config = run.spec.config
    named = {"dataset": run.spec.dataset, "sigma": run.spec.sigma, "model_digest": run.spec.model_digest[:12]}
    chosen = {"protocol": config.protocol, "methods": " ".join(config.methods), "seed": config.seed}
    return {**named, **chosen, "n": config.n, "n0": config.n0, "alpha": config.alpha}


class MLflow:
    """Logs a run to MLflow, under the experiment and the tracking server that MLflow is set to."""

    def __init__(self) -> None:
        self._mlflow: Any = importlib.import_module("mlflow")

    def on_start(self, run: db.Run) -> None:
        """Open a run and write down the settings."""
        self._mlflow.start_run()
        self._mlflow.log_params(settings_of(run))
        self._standing = Standing(run)

    def on_record(self, record: Record) -> None:
        """Two curves over the number of inputs."""
        self._mlflow.log_metrics(self._standing.add(record), step=self._standing.done)

    def on_end(self, run: db.Run) -> None:
        """The page, and whether the run is whole."""
        if run.records:
            with tempfile.TemporaryDirectory() as folder:
                self._mlflow.log_artifact(str(run.report(Path(folder) / "report.html")))
        self._mlflow.end_run(status="KILLED" if run.interrupted else "FINISHED")


class WandB:
    """Logs a run to Weights & Biases, in a project."""

    def __init__(self, project: str = "doublebubble") -> None:
        self._wandb: Any = importlib.import_module("wandb")
        self._project = project

    def on_start(self, run: db.Run) -> None:
        """Open a run with the settings."""
        self._run = self._wandb.init(project=self._project, config=settings_of(run))
        self._standing = Standing(run)

    def on_record(self, record: Record) -> None:
        """Two curves over the number of inputs."""
        self._run.log(self._standing.add(record), step=self._standing.done)

    def on_end(self, run: db.Run) -> None:
        """The summary and the page."""
        if run.records:
            with tempfile.TemporaryDirectory() as folder:
                page = run.report(Path(folder) / "report.html")
                self._run.log({"report": self._wandb.Html(page.read_text("utf-8"))})
        self._run.finish(exit_code=int(run.interrupted))


def main(tracker: str) -> db.Run:
    """Certify a few digits of a model that was not even trained, to see what arrives in the tracker."""
    from doublebubble.models import build

    callback: db.Callback = {"mlflow": MLflow, "wandb": WandB}[tracker]()
    model = build("cnn", (1, 8, 8), 10, (0.5,), (0.5,)).eval()
    return db.certify(model, "digits", sigma=0.25, n=200, n0=50, indices="0:20", callbacks=[callback])


if __name__ == "__main__":
    print(main(sys.argv[1]))
