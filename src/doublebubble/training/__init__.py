"""Training for certification: Gaussian augmentation and MACER, deterministic, resumable."""

from doublebubble.training.evaluation import accuracies_on_test
from doublebubble.training.loop import Observer, train
from doublebubble.training.metrics import EpochMetrics
from doublebubble.training.settings import TrainSettings, preset

__all__ = ["EpochMetrics", "Observer", "TrainSettings", "accuracies_on_test", "preset", "train"]
