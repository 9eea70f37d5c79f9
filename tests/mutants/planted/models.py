"""Models from anywhere: rows that must stay in order, and models that a run must be able to tell apart."""

from tests.mutants.mutant import Mutant

_BATCHES = "models/test_fixed_batch.py::test_rows_keep_their_order_and_every_batch_has_the_size"
_RESUMED = "models/test_black_box.py::test_a_run_is_not_resumed_with_another_function"

MUTANTS = (
    Mutant(
        "rows-of-the-padding-for-those-of-the-batch",
        "models/fixed_batch.py",
        "return torch.cat(found)[: len(x)]",
        "return torch.cat(found)[-len(x) :]",
        "Votes would be those of rows of zeros and of other draws.",
        (_BATCHES,),
    ),
    Mutant(
        "black-boxes-without-a-digest",
        "runs/digests.py",
        "    total.update(black_box_digest(model))\n",
        "",
        "A resumed run would mix the certificates of two functions under one name.",
        (_RESUMED,),
    ),
    Mutant(
        "probe-of-a-black-box-with-few-labels",
        "runs/probe.py",
        "return max(_ROWS, _MOST_LOGITS // max(classes)) if classes else _ROWS",
        "return 1",
        "One label of a fixed input cannot tell two services apart.",
        ("models/test_black_box.py::test_a_function_that_cannot_be_read_is_known_by_its_answers",),
    ),
    Mutant(
        "left-out-normalisation-not-noticed",
        "models/first_look.py",
        "    elif normalised is not None and _far_better(",
        "    elif normalised is not None and not _far_better(",
        "The model that is certified would not be the one that was trained, and nobody would be told.",
        ("models/test_first_look.py::test_a_normalisation_that_is_left_out_is_noticed",),
    ),
)
