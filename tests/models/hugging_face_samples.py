"""Tiny image classifiers of transformers, made from their configuration alone: nothing is downloaded."""

import json
from pathlib import Path

import torch
from transformers import ResNetConfig, ResNetForImageClassification, ViTConfig, ViTForImageClassification

MEAN, STD = [0.4, 0.5, 0.6], [0.2, 0.3, 0.4]
NAMES = tuple(f"digit {k}" for k in range(10))


def tiny_vit(channels: int = 3) -> ViTForImageClassification:
    """A vision transformer of one layer for images of 8x8 pixels and ten classes, in evaluation mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        config = ViTConfig(
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
        return ViTForImageClassification(config).eval()


def tiny_resnet() -> ResNetForImageClassification:
    """A residual network that takes images of any size."""
    config = ResNetConfig(embedding_size=4, hidden_sizes=[4, 8], depths=[1, 1], layer_type="basic", num_labels=3)
    return ResNetForImageClassification(config).eval()


def save_vit(folder: Path, channels: int = 3, **processor: object) -> ViTForImageClassification:
    """The transformer as save_pretrained writes it, with how its images are to be prepared."""
    model = tiny_vit(channels)
    model.save_pretrained(folder)
    told = {"do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": MEAN, "image_std": STD}
    (folder / "preprocessor_config.json").write_text(json.dumps({**told, **processor}))
    return model
