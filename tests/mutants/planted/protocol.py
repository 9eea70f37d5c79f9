"""What makes a certificate of protocol `sound` out of plans and draws."""

from tests.mutants.mutant import Mutant

_SOUND = "protocols/sound.py"
_STRUCTURE = "protocols/test_structure.py"

MUTANTS = (
    Mutant(
        "further-balls-on-search-draws",
        _SOUND,
        "Request(ball.centre, ball.n, stream.named(ball.part))",
        "Request(ball.centre, ball.n, Stream(config.seed, given.index, "
        '"certify" if ball.at_input else "search", ball.part))',
        "The draws that placed and judged a further ball would certify it as well.",
        (f"{_STRUCTURE}::test_select_search_and_certify_share_no_stream[slab]",),
        quick=True,
    ),
    Mutant(
        "certify-on-select-draws",
        _SOUND,
        'stream = Stream(config.seed, given.index, "certify")',
        'stream = Stream(config.seed, given.index, "select")',
        "The draws that chose the class and the rule would certify it: the best of several classes is kept.",
        (f"{_STRUCTURE}::test_select_search_and_certify_share_no_stream[slab]",),
    ),
    Mutant(
        "balls-do-not-share-alpha",
        _SOUND,
        "shares = budget.take_equal([ball.part for ball in plan.balls])",
        "shares = [budget.alpha for _ in plan.balls]",
        "Both balls of a plan must hold, so with all of alpha each the plan fails with up to twice alpha.",
        (f"{_STRUCTURE}::test_how_alpha_is_divided[slab]",),
        quick=True,
    ),
    Mutant(
        "plan-chosen-after-the-draws",
        _SOUND,
        "        certificates.append(_certificate(",
        "        best = max(claims, key=lambda method: claims[method].radius)\n"
        "        found = Proposals(found.plans, best, found.cost)\n"
        "        certificates.append(_certificate(",
        "The largest of several radii is chosen by the draws that certify them, which no level allows for.",
        ("protocols/test_claims.py::test_the_radius_is_that_of_the_plan_chosen_before_the_draws",),
        quick=True,
    ),
    Mutant(
        "balls-of-several-classes",
        _SOUND,
        "if len({ball.statistic.top for ball in plan.balls}) != 1:",
        "if not plan.balls:",
        "Balls of different classes cover no region of one class between them.",
        ("protocols/test_claims.py::test_balls_for_two_classes_are_refused",),
    ),
    Mutant(
        "forecast-of-the-leading-class",
        "search/trials.py",
        "return outlook(counts, self.top, max(1,",
        "return outlook(counts, int(counts.argmax()), max(1,",
        "Each ball would be for the class that leads at its own centre, not for the one under test.",
        ("search/test_trials.py::test_every_forecast_is_for_the_class_under_test",),
    ),
    Mutant(
        "search-in-the-certify-stage",
        "search/trials.py",
        'return Stream(self.config.seed, self.index, "search", part)',
        'return Stream(self.config.seed, self.index, "certify", part)',
        "The looks along the search and the balls at its end have the same names, so they would have the same draws.",
        (f"{_STRUCTURE}::test_select_search_and_certify_share_no_stream[slab]",),
    ),
    Mutant(
        "printed-boundary-radius-inside-sound",
        _SOUND,
        "    return Claim(radius, balls, tuple(bound.multipliers.tolist()), bound.whole_domain, plan.reason)",
        "    from doublebubble.geometry import published_boundary_radius\n\n"
        "    if low is not None and len(balls) == 1 and balls[0].radius > 0:\n"
        "        x1, x2 = (point.detach().double().numpy() for point in (given.x, centres[0]))\n"
        "        radius = max(radius, published_boundary_radius(x1, x2, balls[0].radius))\n"
        "    return Claim(radius, balls, tuple(bound.multipliers.tolist()), bound.whole_domain, plan.reason)",
        "The printed formula returns the distance to some cut with a face, while an attack needs only one open point.",
        ("methods/test_boundary.py::test_the_search_finds_the_true_gain_of_the_box[full]",),
    ),
    Mutant(
        "empty-ball-takes-anothers-radius",
        _SOUND,
        "radii = [noise.nearer(ball.radius, dimension) for ball in balls]",
        "radii = [ball.radius or max(other.radius for other in balls) for ball in balls]",
        "A ball that the votes do not confirm covers nothing.",
        ("protocols/test_claims.py::test_a_ball_without_a_radius_covers_nothing",),
    ),
    Mutant(
        "sigma-of-the-certificate",
        _SOUND,
        "sigma=smoothed.sigma,",
        "sigma=2 * smoothed.sigma,",
        "A certificate would be read as one for noise that was never added.",
        ("test_certifier.py::test_the_binary_certificate_is_the_textbook_one",),
    ),
    Mutant(
        "sigma-of-the-balls",
        _SOUND,
        "certified_ball(ball, tallies[ball.part], share, smoothed.sigma)",
        "certified_ball(ball, tallies[ball.part], share, 1.05 * smoothed.sigma)",
        "Every radius grows in proportion to a noise that was not added.",
        ("test_certifier.py::test_the_binary_certificate_is_the_textbook_one",),
    ),
    Mutant(
        "abstention-names-a-class",
        _SOUND,
        "prediction=plan.balls[0].statistic.top if certified else ABSTAIN,",
        "prediction=plan.balls[0].statistic.top,",
        "A class would be named that the draws do not tell from the others.",
        ("test_certifier.py::test_abstention_is_a_result_with_a_reason",),
    ),
    Mutant(
        "prediction-is-the-label",
        _SOUND,
        "prediction=plan.balls[0].statistic.top if certified else ABSTAIN,",
        "prediction=(plan.balls[0].statistic.top if given.label is None else given.label) if certified else ABSTAIN,",
        "Every certified input would count as correct, whichever class its balls are for.",
        ("protocols/test_claims.py::test_the_label_has_no_part_in_a_certificate",),
    ),
    Mutant(
        "radius-of-another-method",
        _SOUND,
        "radii={method: claims[method].radius for method in found.plans},",
        "radii={method: max(claim.radius for claim in claims.values()) for method in found.plans},",
        "Each method would be said to certify what only the luckiest one does.",
        ("protocols/test_claims.py::test_each_method_says_what_it_certifies_alone",),
    ),
    Mutant(
        "two-centres-under-one-name",
        "tally.py",
        "if self.stream != other.stream or not torch.equal(self.x, other.x):",
        "if self.stream != other.stream:",
        "A ball would be certified by votes that were cast around another centre.",
        ("test_tally.py::test_two_centres_under_one_name_are_an_error",),
    ),
    Mutant(
        "class-chosen-by-the-certify-draws",
        _SOUND,
        "    found = plan.statistic.finding(tally, alpha, sigma)",
        "    from dataclasses import replace\n\n"
        '    rule = getattr(plan.statistic, "rule", None)\n'
        "    if rule is not None:\n"
        "        leads = replace(rule, top=int(tally.counts.argmax()), joints=())\n"
        "        plan = replace(plan, statistic=replace(plan.statistic, rule=leads))\n"
        "    found = plan.statistic.finding(tally, alpha, sigma)",
        "The class would be the one that the certifying draws favour: at a tie every draw is a claim.",
        ("protocols/test_claims.py::test_a_ball_is_for_the_class_of_its_plan_whatever_the_votes",),
    ),
    Mutant(
        "infinite-radius-claimed",
        "protocols/sound.py",
        "max(0.0, found.radius) if math.isfinite(found.radius) else 0.0",
        "max(0.0, found.radius)",
        "A number that is not finite is an error of the statistic, never a radius.",
        ("protocols/test_claims.py::test_no_radius_that_is_not_finite_is_claimed",),
    ),
)
