"""One certificate under attack: the nearest point with another class that can be found and confirmed.

With probability at least 1 - level over the confirming draws, the distance that is reported is no smaller than the
distance to the nearest point of the domain where the certified class is not the likeliest.
"""

import functools
import time

import numpy as np
import numpy.typing as npt
from torch import Tensor

from doublebubble.audit.attack.confirming import Confirmer, Success
from doublebubble.audit.attack.descent import Descent, Sought, strongest
from doublebubble.audit.attack.guide import Guide
from doublebubble.audit.attack.line import Forecast, forecast
from doublebubble.certificate import Certificate
from doublebubble.errors import InputError, SettingError
from doublebubble.runs.attacks import Attacked, AttackSettings, ceil_distance, point_text
from doublebubble.search.gradients import Cost
from doublebubble.smoothing import Input, SmoothedClassifier
from doublebubble.smoothing.gradient_choice import suited
from doublebubble.smoothing.inputs import as_tensor
from doublebubble.streams import Stream
from doublebubble.tally import Request
from doublebubble.types import Counts, Floats

_INSIDE = 0.999  # of the certified radius: the first distance that is tried
_RUNGS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)  # beyond it, in multiples of sigma
_ROUNDS = 3  # of turning a direction towards where it is shortest
_SURE = 1.0  # standard deviations above the score that a test needs: then it should pass
_OUTWARDS = (1.0, 1.01, 1.02, 1.04, 1.08)  # where a success is tested, in multiples of the distance expected to pass


def attack(
    certificate: Certificate,
    smoothed: SmoothedClassifier,
    x: Tensor | npt.NDArray[np.floating],
    settings: AttackSettings | None = None,
) -> Attacked:
    """The nearest confirmed point of the domain where another class is likelier than the one that is certified.

    With probability at least 1 - level over its draws a success that is reported is real, so that its distance is an
    upper bound on the true robust distance; one inside the radius refutes the certificate. That none is found
    guarantees nothing. `smoothed` must be the classifier, and `x` the input, that the certificate is about.

    >>> import torch, doublebubble as db
    >>> model = torch.nn.Linear(2, 2, bias=False).eval()
    >>> _ = model.weight.data.copy_(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))
    >>> smoothed = db.SmoothedClassifier(model, sigma=0.5, num_classes=2, domain=None)
    >>> x = torch.tensor([0.6, 0.0])  # the other class begins at 0
    >>> found = db.attack(db.Certifier(smoothed, db.CertifyConfig(n=1000)).certify(x, index=0), smoothed, x)
    >>> found.radius < 0.6 < found.distance < 0.66, found.inside
    (True, False)
    """
    given = Input(certificate.index, as_tensor(x, certificate.index))
    if certificate.abstained or not certificate.radius > 0:
        raise InputError(f"input {given.index}: expected a certificate with a class and a radius above 0 to attack")
    told = {"sigma": (certificate.sigma, smoothed.sigma), "program": (certificate.program, smoothed.program.name)}
    for name, (wanted, got) in told.items():
        if wanted != got:
            raise SettingError(f"{name}: expected {wanted!r}, that of the certificate, got {got!r}")
    chosen = suited(settings or AttackSettings(), smoothed.model)
    return _Attack(certificate, smoothed, smoothed.checked(given.x, given.index), chosen).run()


class _Attack:
    def __init__(
        self, certificate: Certificate, smoothed: SmoothedClassifier, x: Tensor, settings: AttackSettings
    ) -> None:
        self.certificate, self.settings, self.sigma = certificate, settings, smoothed.sigma
        stream = Stream(settings.seed, certificate.index, "attack")
        self.top = top = certificate.prediction
        origin = x.cpu().double().numpy()
        guide = Guide.of(certificate, origin, smoothed.domain)
        self.descent = Descent(smoothed, x, top, settings, guide, stream)
        self.confirmer = Confirmer(smoothed, x, top, settings.n, settings.level, stream)
        self.farthest = _farthest(origin, smoothed.domain)
        self.cost, self.sought, self.looks = Cost(), 0, 0
        self.weakest = guide.weakest()

    def run(self) -> Attacked:
        began = time.perf_counter()
        found, searched = self._climb()
        tests = self.confirmer.tested * self.settings.n
        return Attacked(
            index=self.certificate.index,
            prediction=self.certificate.prediction,
            radius=self.certificate.radius,
            distance=None if found is None else found.distance,
            searched=ceil_distance(searched),
            rival=None if found is None else found.rival,
            votes=None if found is None else found.votes,
            p_value=None if found is None else found.p_value,
            point=None if found is None else point_text(found.point),
            settings=self.settings,
            draws=self.cost.draws + tests,
            forward_equivalents=self.cost.forward_equivalents + tests,
            seconds=time.perf_counter() - began,
        )

    def _climb(self) -> tuple[Success | None, float]:
        """From just inside the certified radius outwards, until a success is confirmed; and how far it looked."""
        radius, best = 0.0, None
        for radius in self._radii():
            sought = self._seek(radius, best)
            if sought.succeeds and (success := self._settled(sought.way, radius)) is not None:
                return success, radius
            if self.confirmer.spent:
                break
            best = sought.way
        return None, radius

    def _radii(self) -> list[float]:
        """The distances at which to look, rising; none beyond the radius where it is the whole domain's."""
        radius = self.certificate.radius
        most = 0.0 if self.certificate.whole_domain else min(radius + self.settings.reach * self.sigma, self.farthest)
        rungs = [radius + rung * self.sigma for rung in _RUNGS]
        return [_INSIDE * radius, *(rung for rung in rungs if rung < most), *([most] if most > radius else [])]

    def _seek(self, radius: float, best: Floats | None) -> Sought:
        """A search from the best direction so far, the weakest place of the certificate, the input itself, and random
        directions.
        """
        guided = [start for start in (best, self.weakest) if start is not None]
        starts = [*guided, np.zeros_like(self.descent.guide.x)]
        wanted = self.settings.restarts
        starts += [self.descent.random_direction(self.sought, number) for number in range(wanted - len(starts))]
        inside = radius < self.certificate.radius
        found = self.descent.seek(starts[:wanted], radius, certified=inside, name=self.sought)
        self.sought += 1
        self.cost += found.cost
        return found

    def _settled(self, way: Floats, radius: float) -> Success | None:
        """The nearest confirmed success that follows from a direction that seems to succeed at this radius."""
        for _ in range(_ROUNDS):
            way = self._turned(way, radius)
            radius = self._forecast(way, radius, 16, 0.0).distance
        expected = self._forecast(way, radius, 4, self.confirmer.score + _SURE)
        for step in _OUTWARDS:
            if self.confirmer.spent:
                return None
            point = self.descent.point(way, step * expected.distance)
            if (success := self.confirmer.test(point, expected.rival)) is not None:
                return success
        return None

    def _turned(self, way: Floats, radius: float) -> Floats:
        """The direction, of this one and those in which the likeliest rivals gain, that leaves the least lead.

        All of them meet the same noise, so that it blurs their difference less.
        """
        look = functools.partial(self._look, part=8, distance=radius, name=("turn", self.sought))
        votes = look(way)
        best, least = way, _lead(votes, self.top)
        for rival in self._rivals(votes):
            turned, cost = self.descent.press(way, radius, rival, self.sought)
            self.cost += cost
            lead = _lead(look(turned), self.top)
            best, least = (turned, lead) if lead < least else (best, least)
        self.sought += 1
        return best

    def _rivals(self, votes: Counts) -> list[int]:
        """The classes with most votes here, and then around the input, as many as there are restarts."""
        around = sum(self.certificate.counts.values(), np.zeros_like(votes))
        order = np.lexsort((-around, -votes))
        return [int(label) for label in order if label != self.top][: self.settings.restarts]

    def _forecast(self, way: Floats, radius: float, part: int, score: float) -> Forecast:
        def look(distance: float) -> Counts:
            self.looks += 1
            return self._look(way, part, distance, ("line", self.looks))

        return forecast(look, self.top, radius, self.settings.n, score)

    def _look(self, way: Floats, part: int, distance: float, name: tuple[str, int]) -> Counts:
        """The votes of a part of a test's draws at a distance along a direction."""
        n = max(1, self.settings.n // part)
        self.cost += Cost(n, n)
        request = Request(self.descent.point(way, distance), n, self.descent.stream.named(*name))
        return self.descent.smoothed.tally(request).counts


def _lead(votes: Counts, top: int) -> int:
    return int(votes[top] - votes[strongest(votes, top)])


def _farthest(x: Floats, domain: tuple[float, float] | None) -> float:
    """The distance from x to the farthest point of the domain."""
    if domain is None:
        return float("inf")
    return float(np.linalg.norm(np.maximum(x - domain[0], domain[1] - x)))
