"""Training for certification: Gaussian augmentation, MACER, consistency, denoisers; deterministic, resumable."""

from doublebubble.training.evaluation import accuracies_on_test, noise_left_on_test
from doublebubble.training.loop import Observer, train
from doublebubble.training.metrics import EpochMetrics
from doublebubble.training.settings import TrainSettings, preset

__all__ = ["EpochMetrics", "Observer", "TrainSettings", "accuracies_on_test", "noise_left_on_test", "preset", "train"]
