"""Classifiers worth certifying: architectures by name, anyone's model, checkpoints that execute nothing."""

from doublebubble.models.accuracy import accuracy, predictions
from doublebubble.models.architectures import ARCHITECTURES, Normalised, build
from doublebubble.models.checkpoints import ModelCard, load_model, save_model
from doublebubble.models.denoised import Denoised
from doublebubble.models.first_look import FirstLook, first_look
from doublebubble.models.loading import load_classifier, model_classes

__all__ = [
    "ARCHITECTURES",
    "Denoised",
    "FirstLook",
    "ModelCard",
    "Normalised",
    "accuracy",
    "build",
    "first_look",
    "load_classifier",
    "load_model",
    "model_classes",
    "predictions",
    "save_model",
]
