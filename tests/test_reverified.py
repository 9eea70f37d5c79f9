"""Every certificate that a test made is verified again after it."""

from dataclasses import replace

from tests.audit.reverify.made import samples
from tests.reverified import Made, failures


def test_a_false_certificate_is_found_wherever_it_stands() -> None:
    honest, other = samples()["binary"], samples()["dipole"]
    true: Made = (honest.certificate, honest.x, honest.domain)
    false: Made = (replace(honest.certificate, sigma=5.0), honest.x, honest.domain)
    strange: Made = (replace(other.certificate, sigma=5.0), other.x, other.domain)
    assert failures([true] * 3) == []
    for wrong in (false, strange):
        assert len(failures([true, true, wrong, true])) == 1
        assert len(failures([*[true] * 5, wrong])) == 1
