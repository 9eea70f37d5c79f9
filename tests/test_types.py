"""The vocabulary: every guarantee has its words, and only what is guaranteed goes without a mark."""

from doublebubble.types import ABSTAIN, Guarantee


def test_only_an_exact_guarantee_needs_no_mark() -> None:
    assert [guarantee for guarantee in Guarantee if not guarantee.mark] == [Guarantee.EXACT]
    assert len({guarantee.mark for guarantee in Guarantee}) == len(Guarantee)
    assert "not guaranteed" in Guarantee.NONE.mark


def test_sentences_promise_no_more_than_is_held() -> None:
    promising = [guarantee for guarantee in Guarantee if "at least 1 - alpha" in guarantee.sentence]
    assert promising == [Guarantee.EXACT]
    assert Guarantee.NONE.sentence.startswith("is not a guarantee")
    assert [guarantee.value for guarantee in Guarantee] == ["exact", "asymptotic", "unstated", "none"], (
        "records hold it"
    )


def test_abstention_is_no_class() -> None:
    assert ABSTAIN == -1
