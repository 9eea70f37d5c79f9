"""Data sets by name, read from the layouts they are published in."""

from doublebubble.data.datasets import Dataset, Split, check_complete, data_root, load_dataset, to_unit
from doublebubble.data.folders import read_classes
from doublebubble.data.registry import DATASETS, DatasetInfo, dataset_info

__all__ = [
    "DATASETS",
    "Dataset",
    "DatasetInfo",
    "Split",
    "check_complete",
    "data_root",
    "dataset_info",
    "load_dataset",
    "read_classes",
    "to_unit",
]
