"""What each command of a client does; every one returns the facts it prints."""

from ringmill.cli.holder import decrypt as decrypt
from ringmill.cli.holder import encrypt as encrypt
from ringmill.cli.holder import keygen as keygen
from ringmill.cli.holder import rewrite as rewrite
from ringmill.cli.remote import remote as remote
