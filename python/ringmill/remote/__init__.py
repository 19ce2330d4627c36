"""A service elsewhere that runs kernels: `Client` speaks to it, `binary` finds the one that this machine has.

client = rm.remote.Client("http://127.0.0.1:8750", token)
results = client.run(compiled, keys, arguments)
"""

from ringmill.remote.client import AsyncClient, Client
from ringmill.remote.credentials import Credentials
from ringmill.remote.receipt import Receipt

__all__ = ["AsyncClient", "Client", "Credentials", "Receipt"]
