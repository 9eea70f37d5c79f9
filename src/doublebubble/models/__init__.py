"""Classifiers worth certifying: architectures by name, anyone's model, checkpoints that execute nothing."""

from doublebubble.models.accuracy import accuracy, predictions
from doublebubble.models.architectures import ARCHITECTURES, DENOISERS, Normalised, build, build_denoiser
from doublebubble.models.black_box import BlackBox, black_box, is_black_box
from doublebubble.models.checkpoints import ModelCard, load_denoiser, load_model, save_model
from doublebubble.models.class_names import class_names
from doublebubble.models.denoised import Denoised
from doublebubble.models.first_look import FirstLook, first_look
from doublebubble.models.fixed_batch import fixed_batch
from doublebubble.models.loading import about_model, load_classifier, model_classes

__all__ = [
    "ARCHITECTURES",
    "DENOISERS",
    "BlackBox",
    "Denoised",
    "FirstLook",
    "ModelCard",
    "Normalised",
    "about_model",
    "accuracy",
    "black_box",
    "build",
    "build_denoiser",
    "class_names",
    "first_look",
    "fixed_batch",
    "is_black_box",
    "load_classifier",
    "load_denoiser",
    "load_model",
    "model_classes",
    "predictions",
    "save_model",
]
