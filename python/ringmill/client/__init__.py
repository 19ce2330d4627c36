"""A kernel as its client has it: what it takes and gives, its parameters and keys; no program, no weights.

`Client` is what ``client.rm`` holds. A compiled kernel, which has the program too, can do the same: both are
a `ClientSide`.
"""

from ringmill.client.file import Client, load_client
from ringmill.client.side import ClientSide
from ringmill.client.terms import MOST_KEYS, Terms

__all__ = ["MOST_KEYS", "Client", "ClientSide", "Terms", "load_client"]
