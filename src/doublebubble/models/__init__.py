"""Classifiers worth certifying: architectures by name, anyone's model, checkpoints that execute nothing."""

from doublebubble.models.accuracy import accuracy, predictions
from doublebubble.models.architectures import ARCHITECTURES, Normalised, build
from doublebubble.models.checkpoints import ModelCard, load_model, save_model

__all__ = ["ARCHITECTURES", "ModelCard", "Normalised", "accuracy", "build", "load_model", "predictions", "save_model"]
