"""`make faults`: SIGKILL at random moments of a run on the bundled digits, then resume, then compare.

Each round starts the command in a process of its own and kills it without warning, now after a random time, now when a
random number of records has been written; under ray, every third round kills one of its workers first and lets the run
go on. When all rounds are over the run is finished. Its records must be those of a run that nobody disturbed, in every
field but time, none missing, none twice.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from doublebubble.cli import main as command
from doublebubble.data import load_dataset
from doublebubble.runs.store import read_run


class NearestMean(nn.Module):
    """The class whose mean image is nearest: needs no training and is right on most digits."""

    def __init__(self) -> None:
        super().__init__()
        data = load_dataset("digits", "train")
        flat = data.inputs().flatten(1)
        means = torch.stack([flat[data.labels == label].mean(0) for label in range(10)])
        self.register_buffer("weight", means)
        self.register_buffer("bias", -0.5 * means.square().sum(1))

    weight: Tensor
    bias: Tensor

    def forward(self, x: Tensor) -> Tensor:
        """Half the negative squared distances, up to what all classes share."""
        return nn.functional.linear(x.flatten(1), self.weight, self.bias)


def model() -> nn.Module:
    """What `--model benchmarks.faults:model` names."""
    return NearestMean().eval()


def arguments(out: Path, inputs: int, engine: str) -> list[str]:
    """The command under test."""
    text = (
        f"certify --model benchmarks.faults:model --dataset digits --sigma 0.5 --n 1000 --n0 100 --indices 0:{inputs}"
    )
    return [
        *text.split(),
        "--quiet",
        "--out",
        str(out),
        *(["--engine", "ray", "--workers", "2"] if engine == "ray" else []),
    ]


def start(options: list[str]) -> int:
    """The command in a forked process, so that nothing has to be imported again; returns its id."""
    process = os.fork()
    if process:
        return process
    torch.set_num_threads(1)
    code = 1
    try:
        command(options)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    finally:
        os._exit(code)


def wait_for(process: int) -> int:
    """The exit code of a process, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def lines(out: Path) -> int:
    """How many whole lines the run's records have."""
    path = out / "records.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def until(condition: Callable[[], bool], process: int) -> bool:
    """Wait until the condition holds; False if the process ended before."""
    while not condition():
        if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return False
        time.sleep(0.001)
    return True


def ray_workers(driver: int) -> list[int]:
    """The ids of the ray workers among a process's descendants that hold a model."""
    parents, found = {}, []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if (entry / "cmdline").read_bytes().startswith(b"ray::_Worker"):
                    found.append(int(entry.name))
            except (OSError, IndexError):
                continue

    def descends(process: int) -> bool:
        while process > 1:
            if process == driver:
                return True
            process = parents.get(process, 0)
        return False

    return [process for process in found if descends(process)]


def disturb(process: int, out: Path, inputs: int, rng: random.Random, seconds: float, kill_worker: bool) -> bool:
    """Kill the run at a random moment, perhaps one of its workers before; False if the run ended by itself first."""
    done = lines(out)
    if rng.random() < 0.3:
        time.sleep(rng.uniform(0, seconds))
        when = "after a while"
    else:
        target = rng.randint(done + 1, max(done + 1, min(inputs, done + max(4, inputs // 8))))
        until(lambda: lines(out) >= target, process)
        time.sleep(rng.uniform(0, 0.01))
        when = f"at {target} records"
    if kill_worker and (workers := ray_workers(process)):
        os.kill(rng.choice(workers), signal.SIGKILL)
        enough = min(inputs, lines(out) + rng.randint(1, 30))
        until(lambda: lines(out) >= enough, process)
        when += ", a worker first"
    os.kill(process, signal.SIGKILL)
    killed = wait_for(process) < 0
    print(f"  {when}: {'killed' if killed else 'had ended'} with {lines(out)} of {inputs} records", flush=True)
    return killed


def compare(out: Path, reference: Path) -> list[str]:
    """What is wrong with the disturbed run; reading it checks already that no record is damaged or there twice."""
    found = {record.index: record.without_time() for record in read_run(out).records}
    expected = {record.index: record.without_time() for record in read_run(reference).records}
    wrong = [f"input {index} is missing" for index in expected if index not in found]
    wrong += [f"input {index} should not be there" for index in found if index not in expected]
    wrong += [f"input {index} differs" for index in found if index in expected and found[index] != expected[index]]
    return wrong


def trial(engine: str, kills: int, inputs: int, seed: int, folder: Path) -> bool:
    """One disturbed run against one undisturbed; whether they are equal."""
    rng = random.Random(seed)
    reference, out = folder / "reference", folder / f"disturbed-{engine}"
    if not reference.exists() and (code := wait_for(start(arguments(reference, inputs, "local")))):
        print(f"the undisturbed run ended with {code}")
        return False
    began = time.monotonic()
    done = 0
    while done < kills:
        if lines(out) == inputs:
            shutil.rmtree(out)  # it outran its killer, or was killed at the very end: begin again
        process = start(arguments(out, inputs, engine))
        seconds = 12.0 if engine == "ray" else 1.5
        done += disturb(process, out, inputs, rng, seconds, engine == "ray" and done % 3 == 2)
    if code := wait_for(start(arguments(out, inputs, engine))):
        print(f"{engine}: the last, undisturbed part of the run ended with {code}")
        return False
    wrong = compare(out, reference)
    print(
        f"{engine}: {kills} kills, {lines(out)} records, "
        f"{'; '.join(wrong[:5]) or 'all equal to those of the undisturbed run'}, {time.monotonic() - began:.0f} s"
    )
    return not wrong


def main() -> int:
    """Exit 0 if every disturbed run ends equal to the undisturbed one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", action="append", choices=("local", "ray"), help="default: both")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--inputs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = [
            trial(engine, options.kills, options.inputs, options.seed, Path(folder))
            for engine in options.engine or ("local", "ray")
        ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
