"""A denoiser before a classifier: the way to certify a network that was never trained with noise."""

from torch import Tensor, nn

from doublebubble.models.class_names import class_names


class Denoised(nn.Module):
    """`classifier(denoiser(x))`, to be smoothed as one model.

    An undefended classifier changes its mind under noise and certifies next to nothing. A denoiser for noise of the
    same sigma gives it images that it knows; both take images in [0, 1], with any normalisation inside. `classes` are
    the classifier's. It is in evaluation mode if both parts are.
    """

    classes: tuple[str, ...]

    def __init__(self, denoiser: nn.Module, classifier: nn.Module) -> None:
        super().__init__()
        self.denoiser = denoiser
        self.classifier = classifier
        self.classes = class_names(classifier)
        self.training = denoiser.training or classifier.training

    def forward(self, x: Tensor) -> Tensor:
        """Logits of noisy images."""
        logits: Tensor = self.classifier(self.denoiser(x))
        return logits
