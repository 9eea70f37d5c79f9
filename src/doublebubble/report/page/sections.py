"""The parts of the page that need no script: the answer, the choice of sigma, the comparison, how runs were made."""

from collections.abc import Sequence
from typing import TypeVar

from doublebubble.errors import InputError
from doublebubble.report.attacks import attack_summary
from doublebubble.report.facts import draws_asked, facts, protocol_of
from doublebubble.report.page.envelope import Choice
from doublebubble.report.page.markup import Markup, element, joined
from doublebubble.report.page.run_view import RunView
from doublebubble.report.page.sentences import headline, promise, state
from doublebubble.report.page.shares import shares_figure
from doublebubble.report.rounding import interval, length, percent
from doublebubble.runs.spec import RunSpec, spec_hash
from doublebubble.runs.statistics import CertifiedAccuracy, compare

_T = TypeVar("_T")


def middle(values: Sequence[_T]) -> _T:
    """The radius, or what was found there, that the opening sentence is about."""
    return values[len(values) // 2]


def badge(mark: str) -> Markup:
    """The mark that stands beside a number whose radii are not guaranteed; nothing for those that are."""
    return element("span", mark, class_="mark") if mark else Markup("")


def answer(views: Sequence[RunView], radii: Sequence[float]) -> Markup:
    """The first thing to read: one sentence per run, with its guarantee, and certified accuracy at the other radii."""
    cards = [_answer(view, radii) for view in views]
    return section("answer", "The answer", element("div", *cards, class_="cards" if len(cards) > 1 else "alone"))


def _answer(view: RunView, radii: Sequence[float]) -> Markup:
    summary = view.summary(radii)
    before, number, after = headline(view, middle(summary.accuracies))
    tiles = [_tile(point, view.mark) for point in summary.accuracies]
    notes = [
        f"Average certified radius {length(summary.average_radius)}{f' ({view.mark})' if view.mark else ''}",
        f"abstained on {summary.abstained} of {summary.n}",
        *([f"failed on {summary.failed}"] if summary.failed else []),
    ]
    return element(
        "article",
        element("h3", view.name, badge(view.mark), element("span", _kind(view), class_="quiet")),
        element("p", before, element("strong", number), after, class_="headline"),
        element("p", promise(view, middle(summary.accuracies)), class_="promise"),
        element("ul", *tiles, class_="tiles"),
        element("p", "; ".join(notes) + ". ", state(view), class_="promise"),
        shares_figure(view.run.records),
        class_="card",
    )


def _kind(view: RunView) -> str:
    spec = view.run.spec
    if not isinstance(spec, RunSpec):
        return f"imported from {spec.source}"
    return f"sigma {spec.sigma:g}, protocol {protocol_of(spec.config)}, {draws_asked(spec.config)}"


def _tile(point: CertifiedAccuracy, mark: str) -> Markup:
    return element(
        "li",
        element("span", f"radius {point.radius:g}", class_="quiet"),
        element("b", percent(point.certified, point.n)),
        element("span", interval(point), class_="quiet"),
        element("span", f"{point.certified} of {point.n}", class_="quiet"),
        badge(mark),
    )


def choice(
    names: Sequence[str], mark: str, choices: Sequence[Choice], n: int, sizes: Sequence[int], number: int
) -> Markup:
    """The place of an envelope's chart, and the best sigma at the radii that matter, over the n inputs of all runs."""
    rows = [
        (
            f"{found.radius:g}",
            names[found.best],
            f"{percent(found.certified, n)} ({found.certified} of {n})",
            f"{names[found.second]}: {percent(found.second_certified, n)}",
            f"{found.p_value:.3g}",
        )
        for found in choices
        if found.certified
    ]
    caution = (
        "The best of several runs, chosen radius by radius on the same inputs, is a guide to choosing sigma, not a "
        "certificate of one classifier: choose, then certify inputs that took no part in the choice. p is that of the "
        "exact paired test of the best against the next best; a large p means that these inputs do not tell the two "
        "apart."
    )
    head = ("radius", "best", "certified accuracy", "next best", "p")
    return joined(
        element("p", caution, badge(mark)),
        _common(names, n, sizes),
        element("div", class_="chart", id=f"envelope-{number}"),
        table(head, rows, mark),
    )


def _common(names: Sequence[str], n: int, sizes: Sequence[int]) -> Markup:
    """What the choice of sigma is made on, where that is not all that the runs hold."""
    if set(sizes) == {n}:
        return Markup("")
    held = ", ".join(f"{name} has {size}" for name, size in zip(names, sizes, strict=True))
    inputs = "the 1 input" if n == 1 else f"the {n} inputs"
    return element("p", f"Only {inputs} that all of these runs have finished count here: {held}.")


def apart(names: Sequence[str]) -> Markup:
    """Why runs that differ in sigma are not in one chart."""
    return element(
        "p", f"No input is finished in all of {', '.join(names)}: one chart of them all has nothing to show."
    )


def attacked(views: Sequence[RunView]) -> Markup:
    """The place of the chart of certified and attacked accuracy, and what the attacks on each run found."""
    note = (
        "An attack looks for the nearest input that gets another class; fresh draws confirm each success, at an error "
        "probability of 1e-6 unless another was asked for. Its distance is an upper bound on how far the input can be "
        "moved, the certified radius a lower one: the truth lies between the two curves. Inputs without a success, or "
        "not attacked, count all the way."
    )
    told = [
        element("p", element("b", view.name), badge(view.mark), f": {attack_summary(list(view.attacks.values()))}.")
        for view in views
        if view.attacks
    ]
    chart = element("div", class_="chart", id="attacks-chart")
    return section("attacks", "Certified and attacked", element("p", note), *told, chart)


def comparison(views: Sequence[RunView]) -> Markup:
    """Each run against the first, on the inputs that both hold."""
    first = views[0]
    parts, rows = [], []
    for other in views[1:]:
        try:
            found = compare(first.table, other.table) if _same_data(first, other) else None
        except InputError as error:
            parts.append(element("p", f"{other.name}: {error}."))
            continue
        if found is None:
            parts.append(element("p", f"{other.name}: holds other data than {first.name} and is not compared."))
            continue
        rows.append(
            (
                joined(other.name, badge(other.mark)),
                str(found.n),
                f"{found.larger}",
                f"{found.smaller}",
                f"{found.mean_difference:+.4f}",
                f"{found.p_value:.3g}",
            )
        )
    opening = (
        "On the inputs that both hold: on how many is the certified radius larger or smaller (0 unless correct), its "
        "mean difference, and the p-value of the exact sign test, which is small if so uneven a split would be rare "
        "between equals. Compared with "
    )
    head = ("run", "common inputs", "larger", "smaller", "mean difference", "p")
    shown = table(head, rows, "") if rows else Markup("")
    return joined(element("p", opening, element("b", first.name), badge(first.mark), "."), shown, *parts)


def _same_data(a: RunView, b: RunView) -> bool:
    """Whether two runs can hold the same inputs; of imported runs only the labels can tell."""
    digests = [view.run.spec.data_digest for view in (a, b) if isinstance(view.run.spec, RunSpec)]
    return len(set(digests)) < 2


def making(view: RunView) -> Markup:
    """Everything about how a run was made, folded away."""
    pairs = [*facts(view.run), *_more(view)]
    listed = [joined(element("dt", name), element("dd", value)) for name, value in pairs]
    summary = element("summary", f"How {view.name} was made", badge(view.mark))
    return element("details", summary, element("dl", *listed, class_="facts"))


def _more(view: RunView) -> Sequence[tuple[str, str]]:
    spec = view.run.spec
    where = [("folder", str(view.run.path)), ("specification, whole", spec_hash(spec))]
    if not isinstance(spec, RunSpec):
        return [*where, ("digest of the file", spec.digest)]
    config = spec.config
    domain = "all of space" if spec.domain is None else f"[{spec.domain[0]:g}, {spec.domain[1]:g}] in every coordinate"
    return [
        *where,
        ("model, whole digest", spec.model_digest),
        ("data, whole digest", spec.data_digest),
        ("shape, classes", f"{' x '.join(map(str, spec.shape))}, {spec.num_classes} classes"),
        ("domain", domain),
        ("gradient", config.gradient),
        ("versions", ", ".join(f"{name} {number}" for name, number in spec.versions.items())),
    ]


def section(name: str, title: str, *children: str) -> Markup:
    """A part of the page with its heading."""
    heading = element("h2", title, id=f"{name}-title")
    return element("section", heading, *children, id=name, aria_labelledby=f"{name}-title")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], mark: str) -> Markup:
    """A table that becomes a list of labelled lines where the page is narrow; its caption carries the mark."""
    cells = [
        element(
            "tr",
            *(element("td", element("span", value), data_label=name) for name, value in zip(head, row, strict=True)),
        )
        for row in rows
    ]
    return element(
        "table",
        *([element("caption", badge(mark))] if mark else []),
        element("thead", element("tr", *(element("th", name, scope="col") for name in head))),
        element("tbody", *cells),
        class_="plain",
    )
