"""Figures that training reports: on images that were not trained on, under the noise that is named."""

from tests.mutants.mutant import Mutant

_LOOP = "training/loop.py"
_HELD = "training/test_loop.py::test_the_accuracy_held_out_is_on_images_never_trained_on_and_under_noise"

MUTANTS = (
    Mutant(
        "training-images-as-test-images",
        "training/evaluation.py",
        'data = load_dataset(settings.dataset, "test", data_dir, settings.size)',
        'data = load_dataset(settings.dataset, "train", data_dir, settings.size)',
        "Accuracy on images that were trained on says nothing about others.",
        ("training/test_evaluation.py::test_a_model_that_always_says_the_same_has_the_share_of_that_class",),
    ),
    Mutant(
        "held-out-images-trained-on",
        _LOOP,
        "held, used = torch.from_numpy(order[:kept]), torch.from_numpy(order[kept:])",
        "held, used = torch.from_numpy(order[:kept]), torch.from_numpy(order)",
        "The best epoch would be chosen, and its accuracy reported, on images that were trained on.",
        (_HELD,),
        quick=True,
    ),
    Mutant(
        "trained-images-held-out",
        _LOOP,
        "held, used = torch.from_numpy(order[:kept]), torch.from_numpy(order[kept:])",
        "held, used = torch.from_numpy(order[len(order) - kept :]), torch.from_numpy(order[kept:])",
        "The images reported as held out would be among those trained on.",
        (_HELD,),
    ),
    Mutant(
        "training-accuracy-as-held-out",
        _LOOP,
        "return EpochMetrics(epoch, mean_loss, mean_accuracy, self._held_out(), rate,",
        "return EpochMetrics(epoch, mean_loss, mean_accuracy, mean_accuracy, rate,",
        "Accuracy while training would be reported as that on the images held out.",
        (_HELD,),
    ),
    Mutant(
        "held-out-without-noise",
        _LOOP,
        "return accuracy(self.judged, self.held_inputs, self.held_labels, self.settings.sigma, stream)",
        "return accuracy(self.judged, self.held_inputs, self.held_labels, 0.0, stream)",
        "Clean accuracy would be reported as accuracy under noise.",
        (_HELD,),
    ),
    Mutant(
        "test-accuracy-under-less-noise",
        "models/accuracy.py",
        "x = x + sigma * noise",
        "x = x + sigma * noise / 2",
        "Accuracy under half the noise would be reported as accuracy under noise of sigma.",
        ("models/test_accuracy.py::test_predictions_do_not_depend_on_the_batch_and_noise_has_the_asked_scale",),
    ),
    Mutant(
        "guessing-is-not-noticed",
        "models/first_look.py",
        "return float(binom.sf(right - 1, count, 1 / num_classes)) > _CHANCE",
        "return float(binom.sf(right - 1, count, 1 / num_classes)) > 1",
        "A run on a model that guesses would start without a warning.",
        ("models/test_first_look.py::test_an_undefended_model_is_noticed",),
    ),
)
