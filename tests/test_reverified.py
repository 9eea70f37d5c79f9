"""What is verified again after a test: the first certificates, one of each further kind, or all."""

from dataclasses import replace

from tests.audit.reverify.made import samples
from tests.reverified import FIRST, Made, chosen, failures


def test_a_false_certificate_is_found_among_the_first_of_another_kind_or_if_all_are_verified() -> None:
    honest, other = samples()["binary"], samples()["dipole"]
    true: Made = (honest.certificate, honest.x, honest.domain)
    false: Made = (replace(honest.certificate, sigma=5.0), honest.x, honest.domain)
    strange: Made = (replace(other.certificate, sigma=5.0), other.x, other.domain)
    many = [true] * (FIRST + 1)
    assert len(chosen([*many, false])) == FIRST + 1
    assert failures([*many, false]) == []
    assert len(failures([*many, false], every=True)) == 1
    assert len(failures([true, false, *many])) == 1
    assert len(failures([*many, strange])) == 1
