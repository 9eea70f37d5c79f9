import itertools
import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from doublebubble.errors import SettingError
from doublebubble.search.ascent import Ascent, AscentEnd, AscentState, confined, within
from doublebubble.streams import Stream


def free(point: Tensor) -> Tensor:
    return point


def solver(iterations: int = 200, **changes: object) -> Ascent:
    return Ascent(**{"first_step": 0.01, "smallest_step": 1e-7, "iterations": iterations, "project": free, **changes})  # type: ignore[arg-type]


def run(
    ascent: Ascent, start: Tensor, gradient: Callable[[Tensor], Tensor], stream: Stream | None = None
) -> list[AscentState]:
    states = [ascent.init(start)]
    while not ascent.done(states[-1]):
        state = states[-1]
        here = None if stream is None else stream.child(state.iteration)
        states.append(ascent.step(state, gradient(state.point), stream=here))
    return states


def quadratic(curvatures: Tensor, optimum: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda point: -curvatures * (point - optimum)


@settings(max_examples=30, deadline=None)
@given(
    curvatures=st.lists(st.floats(0.2, 5.0), min_size=1, max_size=6),
    scale=st.floats(0.01, 100.0),
)
def test_the_optimum_of_a_quadratic_is_reached(curvatures: list[float], scale: float) -> None:
    c = torch.tensor(curvatures, dtype=torch.float64) * scale
    optimum = torch.linspace(-1, 1, len(curvatures), dtype=torch.float64)
    end = run(solver(500, smallest_step=0.0), torch.zeros(len(curvatures)), quadratic(c, optimum))[-1]
    assert float((end.point - optimum).abs().max()) < 1e-5


def test_the_first_step_has_the_given_length_whatever_the_gradient() -> None:
    for size in (1e-30, 1.0, 1e30):
        state = solver().init(torch.zeros(3))
        after = solver().step(state, size * torch.tensor([3.0, 4.0, 0.0], dtype=torch.float64))
        torch.testing.assert_close(after.point, torch.tensor([0.006, 0.008, 0.0], dtype=torch.float64))
        assert after.iteration == 1
        assert after.stop is None


def test_later_steps_have_the_barzilai_borwein_length() -> None:
    state = solver().step(solver().init(torch.zeros(2)), torch.tensor([1.0, 0.0]))
    after = solver().step(state, torch.tensor([0.5, 0.25]))
    # dx = (0.01, 0), dg = (-0.5, 0.25): gamma = 0.005 / 0.3125 = 0.016
    torch.testing.assert_close(after.point, torch.tensor([0.01 + 0.016 * 0.5, 0.016 * 0.25], dtype=torch.float64))


@pytest.mark.parametrize("taken", [0, 1])
def test_the_step_is_reversed_where_the_class_is_wrong(taken: int) -> None:
    state = solver().init(torch.zeros(2))
    for _ in range(taken):
        state = solver().step(state, torch.tensor([1.0, 0.0]))
    gradient = torch.tensor([0.5, 0.25])
    on = solver().step(state, gradient).point - state.point
    back = solver().step(state, gradient, forwards=False).point - state.point
    torch.testing.assert_close(on, -back)
    assert float(on @ gradient.double()) > 0


def test_a_box_holds_every_point_and_the_optimum_on_its_face_is_reached() -> None:
    optimum = torch.tensor([1.7, 0.4, -3.0], dtype=torch.float64)
    states = run(
        solver(project=confined(0.0, 1.0)),
        torch.tensor([0.5, 0.5, 2.0]),
        quadratic(torch.tensor([1.0, 2.0, 1.5]), optimum),
    )
    assert all(float(state.point.min()) >= 0 and float(state.point.max()) <= 1 for state in states)
    torch.testing.assert_close(states[-1].point, optimum.clamp(0, 1), atol=1e-4, rtol=0)


def test_a_ball_holds_every_point() -> None:
    centre = torch.tensor([1.0, -1.0], dtype=torch.float64)
    project = within(centre, 0.3)
    states = run(solver(project=project), torch.tensor([50.0, 0.0]), quadratic(torch.ones(2), torch.tensor([1.0, 9.0])))
    assert all(float((state.point - centre).norm()) <= 0.3 + 1e-12 for state in states)
    torch.testing.assert_close(
        states[-1].point, centre + torch.tensor([0.0, 0.3], dtype=torch.float64), atol=1e-3, rtol=0
    )
    inside = centre + 0.1
    assert torch.equal(project(inside), inside)
    assert torch.equal(within(centre, 0.0)(inside), centre)


# Every stop has its reason


def test_stop_when_the_gradient_vanishes() -> None:
    states = run(solver(), torch.ones(2), lambda point: torch.zeros(2))
    assert states[-1].stop is AscentEnd.VANISHED
    assert torch.equal(states[-1].point, torch.ones(2, dtype=torch.float64))
    assert (
        run(solver(), torch.ones(2), lambda point: torch.full((2,), 5e-324, dtype=torch.float64))[-1].stop
        is AscentEnd.VANISHED
    )


def test_stop_when_the_gradient_does_not_change() -> None:
    states = run(solver(), torch.zeros(2), lambda point: torch.tensor([1.0, 2.0]))
    assert states[-1].stop is AscentEnd.UNCHANGED
    assert states[-1].iteration == 2


def test_stop_when_the_step_is_small_or_blocked() -> None:
    slow = run(solver(smallest_step=0.5), torch.zeros(1), quadratic(torch.tensor([4.0]), torch.ones(1)))
    assert slow[-1].stop is AscentEnd.SMALL_STEP
    noisy = iter([1.0, 2.0, 3.0])
    blocked = run(solver(project=confined(0.0, 1.0)), torch.ones(1), lambda point: torch.tensor([next(noisy)]))
    assert blocked[-1].stop is AscentEnd.SMALL_STEP


def test_stop_after_the_iterations() -> None:
    states = run(solver(7, smallest_step=0.0), torch.zeros(3), quadratic(torch.tensor([1.0, 30.0, 4.0]), torch.ones(3)))
    assert states[-1].stop is AscentEnd.ITERATIONS
    assert states[-1].iteration == 7
    assert torch.equal(states[-1].point, states[-2].point), "no point is proposed that nobody will look at"


def test_a_stopped_ascent_and_a_broken_gradient_are_refused() -> None:
    stopped = solver().step(solver().init(torch.ones(2)), torch.zeros(2))
    with pytest.raises(SettingError, match="the gradient vanished"):
        solver().step(stopped, torch.ones(2))
    for bad in (torch.tensor([math.nan, 0.0]), torch.tensor([math.inf, 0.0]), torch.ones(3)):
        with pytest.raises(SettingError, match="finite gradient of shape"):
            solver().step(solver().init(torch.ones(2)), bad)


# The line, momentum, noise


def test_a_line_search_caps_its_steps_and_stays_in_the_unit_interval() -> None:
    line = solver(30, first_step=0.025, smallest_step=1e-3, largest_step=0.125, project=confined(0.0, 1.0))
    states = run(line, torch.tensor([0.9]), lambda s: -(s - 0.2))
    gammas = [
        abs(float(after.point - before.point)) / abs(float(before.point) - 0.2)
        for before, after in itertools.pairwise(states)
    ]
    assert max(gammas[1:]) == pytest.approx(0.125)
    assert abs(float(states[1].point) - 0.9) == pytest.approx(0.025)
    assert float(states[-1].point) == pytest.approx(0.2, abs=0.05)
    beyond = run(line, torch.tensor([0.9]), lambda s: 2.0 - s)
    assert max(float(state.point) for state in beyond) == 1.0


def test_momentum_repeats_a_part_of_the_last_displacement() -> None:
    plain, heavy = solver(), solver(momentum=0.5)
    first = heavy.step(heavy.init(torch.zeros(2)), torch.tensor([1.0, 0.0]))
    gradient = torch.tensor([0.5, 0.25])
    extra = heavy.step(first, gradient).point - plain.step(first, gradient).point
    torch.testing.assert_close(extra, torch.tensor([0.005, 0.0], dtype=torch.float64))


def test_calibrated_noise_has_the_stated_size_and_needs_a_stream() -> None:
    noisy, dimension = solver(noise=0.3), 2000
    gradient = torch.ones(dimension)
    state = noisy.init(torch.zeros(dimension))
    with pytest.raises(SettingError, match="needs a stream"):
        noisy.step(state, gradient)
    stream = Stream(0, 0, "search", "step")
    after = noisy.step(state, gradient, stream=stream)
    extra = after.point - solver().step(state, gradient).point
    assert float(extra.norm()) == pytest.approx(0.3 * 0.01, rel=0.1)
    assert torch.equal(after.point, noisy.step(state, gradient, stream=stream).point)
    assert not torch.equal(after.point, noisy.step(state, gradient, stream=stream.child(1)).point)
