"""Does every radius of a run follow from what is stored? Computed again, by code that shares nothing with its maker.

Written from docs/math.md in fifty digits. May not import bounds, geometry, search, methods or protocols.
"""

from doublebubble.audit.reverify.certificates import Confirmation, Verdict, reverify
from doublebubble.audit.reverify.runs import Inputs, reverify_run

__all__ = ["Confirmation", "Inputs", "Verdict", "reverify", "reverify_run"]
