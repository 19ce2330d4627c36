"""Receipts of a service: what is signed is what was done, and OpenSSL says that it is signed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from service import Service

import ringmill as rm
from ringmill import _native
from ringmill.remote import Receipt

PARAMS = rm.Params.from_bits(11, [45, 35], [46], 2, scale_bits=35, insecure=True)
#: What stands before a public key of Ed25519 in DER (RFC 8410).
DER = bytes.fromhex("302a300506032b6570032100")


def by_openssl(receipt: Receipt, folder: Path) -> bool:
    """Whether OpenSSL takes the signature."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("no openssl here")
    parts = {
        "key": DER + bytes.fromhex(receipt.public_key),
        "text": receipt.statement.encode(),
        "sig": bytes.fromhex(receipt.signature),
    }
    for name, data in parts.items():
        (folder / name).write_bytes(data)
    verb = [program, "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "key", "-rawin"]
    done = subprocess.run([*verb, "-in", "text", "-sigfile", "sig"], cwd=folder, capture_output=True)
    return done.returncode == 0


def test_a_receipt_states_what_was_done_and_is_signed(tmp_path: Path) -> None:
    @rm.kernel
    def square(x: rm.Vector = rm.vector(4)) -> rm.Vector:
        return x * x

    compiled = square.compile(params=PARAMS)
    keys = compiled.keygen()
    arguments = compiled.encrypt(keys.secret, x=np.array([0.5, 0.25, -1, 0]))
    with Service(tmp_path / "data") as service, service.client() as client:
        trusted = client.signing_key()
        hashes = [client.push(what) for what in (compiled, keys, arguments)]
        queued = client.submit(*hashes)
        job = client.wait(queued["id"], timeout=60)
        receipt = client.receipt(job["id"])
        client.fetch(job["result"], tmp_path / "results")
        found = _native.blake3_file(tmp_path / "results")
        facts = receipt.verify(trusted, results=found)
        assert [facts[name] for name in ("program", "keys", "arguments", "result", "job")] == [
            *hashes,
            found,
            job["id"],
        ]
        assert facts["engine"] == rm.__version__
        assert receipt.public_key == trusted
        assert by_openssl(receipt, tmp_path)
        # Another tenant sees no receipt of it.
        other = service.tenant("other")
        with other, pytest.raises(rm.errors.RemoteError) as refused:
            other.receipt(job["id"])
        assert refused.value.code == "NotFound"
        service.stop()
        service.start()
        with service.client() as again:
            assert again.signing_key() == trusted
            assert again.receipt(job["id"]) == receipt
            cancelled = again.cancel(again.submit(*hashes, deadline=60)["id"])
            if cancelled["state"] == "cancelled":
                with pytest.raises(rm.errors.RemoteError) as none:
                    again.receipt(cancelled["id"])
                assert none.value.code == "NotFound"

    edited = json.loads(receipt.statement) | {"result": "0" * 64}
    forged = Receipt(json.dumps(edited), receipt.signature, receipt.public_key)
    assert not by_openssl(forged, tmp_path)
    flipped = f"{int(receipt.signature[0], 16) ^ 1:x}{receipt.signature[1:]}"
    wrong = [
        (forged, trusted, None),
        (Receipt(receipt.statement, flipped, receipt.public_key), trusted, None),
        (receipt, "00" * 32, None),
        (receipt, "no key", None),
        (receipt, trusted, "0" * 64),
        (Receipt("[]", receipt.signature, receipt.public_key), trusted, None),
    ]
    for statement, key, results in wrong:
        with pytest.raises(rm.errors.RemoteError) as bad:
            statement.verify(key, results=results)
        assert bad.value.code == "BadReceipt"
    with pytest.raises(rm.errors.RemoteError):
        _ = Receipt("[]", "", "").facts
