"""Where a service may listen: what is not safe is refused, in a sentence, before anything is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphbrain.base.errors import BadInput
from graphbrain.service.app import Terms
from graphbrain.service.serve import ListenAddress


def test_wrong_addresses_and_files_are_told_in_a_sentence(tmp_path: Path) -> None:
    no, text = tmp_path / "no.pem", tmp_path / "text.pem"
    text.write_text("no certificate")
    for address, without_token, words in (
        (ListenAddress("0.0.0.0"), False, "in the clear"),
        (ListenAddress("::"), False, "in the clear"),
        (ListenAddress("brain.example"), False, "in the clear"),
        (ListenAddress("0.0.0.0", without_tls=True), True, "without a token"),
        (ListenAddress(certificate=no), False, "both files"),
        (ListenAddress(certificate=no, key=no), False, "no certificate and its key"),
        (ListenAddress(certificate=text, key=text), False, "no certificate and its key"),
    ):
        with pytest.raises(BadInput, match=words) as refused:
            address.checked(without_token)
        assert "\n" not in str(refused.value)
    for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost"):
        assert ListenAddress(host).checked(without_token=True).host == host
    assert ListenAddress("0.0.0.0", without_tls=True).checked(without_token=False)


def test_names_and_origins_that_can_be_none_are_told_in_a_sentence() -> None:
    for terms in (
        *(Terms(names=[name]) for name in ("http://x/", "a b", "brain.example:80", "", "*")),
        *(Terms(origins=[origin]) for origin in ("bad", "https://", "https://a.example/", "ftp://a.example", "")),
    ):
        with pytest.raises(BadInput, match="is like"):
            terms.checked()
    names, origins = ["brain.example", "brain", "b_1.example."], ["https://a.example", "http://[::1]:80", "*"]
    good = Terms(names=names, origins=origins)
    assert good.checked() is good
