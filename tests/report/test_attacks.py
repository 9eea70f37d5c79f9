from doublebubble.report.attacks import attack_sentence, attack_summary, refuted
from doublebubble.runs.record import Record
from tests.runs.samples import certificate
from tests.runs.test_attacks import attacked


def test_all_attacks_in_one_sentence() -> None:
    several = [attacked(0, 0.6), attacked(1, 0.8), attacked(2, 0.5), attacked(3, None)]
    assert attack_summary(several) == (
        "attacked 4 certified inputs: no successes inside the radius; "
        "3 beyond it, at the median 1.50 times the radius, 0.2000 farther than it; 1 without any"
    )
    assert attack_summary([attacked(0, 0.3)]) == "attacked 1 certified input: 1 success inside the radius"
    assert attack_summary([]) == "attacked 0 certified inputs: no successes inside the radius"


def test_one_attack_in_words_and_what_it_refutes() -> None:
    record = Record.of(certificate(0))
    paper = record.model_copy(update={"protocol": "paper"})
    beyond, inside, vain = attacked(0, 0.6), attacked(0, 0.3), attacked(0, None)
    votes = "(700 votes to 300, p 1e-09)"
    assert attack_sentence(beyond, record) == f"class 2 is likelier than class 1 at distance 0.600000 {votes}"
    assert attack_sentence(vain, record) == "no other class was found as far as 0.900000"
    said = f"class 2 is likelier than class 1 at distance 0.300000 {votes}, inside the radius 0.400000"
    assert attack_sentence(inside, record) == f"{said}: the certificate is false"
    assert attack_sentence(inside, paper) == f"{said}: protocol paper guarantees none"
    assert [refuted(one, record) for one in (beyond, inside, vain)] == [False, True, False]
    assert not refuted(inside, paper)
