import torch
from torch import Tensor, nn

from doublebubble.runs.digests import data_digest, device_kind, model_digest, software_versions


class Scaled(nn.Module):
    scale: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return x


def test_the_model_digest_sees_weights_structure_and_hidden_buffers() -> None:
    layer, scaled = nn.Linear(2, 3), Scaled()
    model = nn.Sequential(layer, scaled, nn.ReLU())
    first = model_digest(model)
    assert model_digest(model) == first
    with torch.no_grad():
        layer.bias[1] += 1e-6
    second = model_digest(model)
    scaled.scale.add_(1)
    third = model_digest(model)
    model[2] = nn.Tanh()
    assert len({first, second, third, model_digest(model)}) == 4


def test_the_model_digest_accepts_scalars_and_reduced_precision() -> None:
    model = nn.Linear(2, 2).bfloat16()
    model.register_buffer("step", torch.tensor(3))
    assert len(model_digest(model)) == 64


def test_the_data_digest_sees_one_pixel_one_label_and_the_shape() -> None:
    pixels, labels = torch.zeros(4, 1, 2, 2, dtype=torch.uint8), torch.arange(4)
    other_pixels, other_labels = pixels.clone(), labels.clone()
    other_pixels[3, 0, 1, 1] = 1
    other_labels[0] = 9
    digests = {
        data_digest(pixels, labels),
        data_digest(other_pixels, labels),
        data_digest(pixels, other_labels),
        data_digest(pixels.reshape(4, 1, 4, 1), labels),
    }
    assert len(digests) == 4


def test_software_and_device_are_named() -> None:
    assert software_versions()["torch"] == torch.__version__
    assert device_kind(torch.device("cpu")).startswith("cpu ")
