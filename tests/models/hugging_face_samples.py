"""Tiny image classifiers of transformers, made from their configuration alone: nothing is downloaded."""

import importlib
import json
from pathlib import Path
from typing import Any

import torch

transformers: Any = importlib.import_module("transformers")
MEAN, STD = [0.4, 0.5, 0.6], [0.2, 0.3, 0.4]
NAMES = tuple(f"digit {k}" for k in range(10))


def tiny_vit(channels: int = 3) -> Any:
    """A vision transformer of one layer for images of 8x8 pixels and ten classes, in evaluation mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        config = transformers.ViTConfig(
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            image_size=8,
            patch_size=4,
            num_channels=channels,
            id2label=dict(enumerate(NAMES)),
            label2id={name: number for number, name in enumerate(NAMES)},
        )
        return transformers.ViTForImageClassification(config).eval()


def tiny_resnet() -> Any:
    """A residual network that takes images of any size."""
    config = transformers.ResNetConfig(
        embedding_size=4, hidden_sizes=[4, 8], depths=[1, 1], layer_type="basic", num_labels=3
    )
    return transformers.ResNetForImageClassification(config).eval()


def save_vit(folder: Path, **processor: object) -> Any:
    """The transformer as save_pretrained writes it, with how its images are to be prepared."""
    model = tiny_vit()
    model.save_pretrained(folder)
    told = {"do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": MEAN, "image_std": STD}
    (folder / "preprocessor_config.json").write_text(json.dumps({**told, **processor}))
    return model
