"""How often the published procedure claims too much, on every oracle: reported, since it promises nothing.

    python -m benchmarks.paper_coverage [repetitions]

Printed per point: the share of repetitions, at a nominal 5 %, in which a method's radius exceeds the true distance.
"""

import sys

from doublebubble.audit.coverage import count_misses, repetitions
from doublebubble.config import CertifyConfig
from tests.protocols.cases import boxed_cases, free_cases


def main(times: int) -> None:
    """Certify each point as published and count the misses."""
    config = CertifyConfig(protocol="paper", n=300, methods=("cohen", "single", "boundary"), gradient="approximate")
    for case in (*free_cases()[::2], *boxed_cases()):
        misses = count_misses(case, list(repetitions(case, config, times)))
        shares = ", ".join(f"{method} {count / times:.0%}" for method, count in misses.items())
        print(f"{case.name}: {shares}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
