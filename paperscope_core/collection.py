"""How often Python looks for objects that nothing needs, in processes of ours."""

import gc

__all__ = ["collect_rarely"]

# As many objects as two commands' imports create. Such objects stay, and to look through them again and again takes a
# sixth of the time that a process takes to start (0.5 of 3.2 s of the service with a language model). With 50,000 it is
# still a tenth; an object that is found late is one of 100,000, some ten megabytes.
_NEW_OBJECTS = 100_000


def collect_rarely() -> None:
    """Look rarely for unreachable objects from now on. For a process of ours, before its imports."""
    gc.set_threshold(_NEW_OBJECTS)
