"""The smoothed classifier (S1), (S2): the only code that runs a model for certification.

`inputs` says what an input is and refuses what is not one; `forward` runs the model at one micro-batch shape; `votes`
counts what it says of noisy copies; `predicting` stops when a class leads by enough; `soft` differentiates it for
searches; `classifier` is what users hold.
"""

from doublebubble.smoothing.classifier import SmoothedClassifier
from doublebubble.smoothing.inputs import Input, draw_dtype
from doublebubble.smoothing.predicting import Prediction
from doublebubble.smoothing.soft_look import SoftRequest, SoftScores

__all__ = ["Input", "Prediction", "SmoothedClassifier", "SoftRequest", "SoftScores", "draw_dtype"]
