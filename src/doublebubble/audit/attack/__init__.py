"""How near is a point with another class? An upper bound on the robust distance, beside the certified lower one.

What is found by search is confirmed by fresh draws before it is reported.
"""

from doublebubble.audit.attack.certificates import attack

__all__ = ["attack"]
