"""The file of a login: what it may have, and that no value of it is in an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphbrain.base.errors import BadInput
from graphbrain.crawl.login import HOUR, MOST_LOGINS, Login, LoginForm, login_of

GOOD = 'url = "https://a.example/login"\nfields = {user = "ada", secret = "$SECRET"}\n'


def test_secrets_come_from_the_environment(tmp_path: Path) -> None:
    (file := tmp_path / "login.toml").write_text(GOOD)
    form = login_of(file, {"SECRET": "sesame"})
    assert form.url == "https://a.example/login" and form.fields == {"user": "ada", "secret": "sesame"}
    assert "sesame" not in repr(form) and not form.success


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("url = ", "is no TOML"),
        ("fields = {a = 'b'}", "needs the form's address"),
        ("url = 'https://a.example/'", "needs the form's address"),
        ("url = 'https://a.example/'\nfields = {a = 1}", "the field 'a' needs a text"),
        (GOOD + "password = 'sesame'", "'password' is none of"),
        (GOOD, "the environment variable SECRET"),
        ("url = '/login'\nfields = {a = '$'}", "login.toml: '/login' is no address of a form"),
    ],
)
def test_what_is_no_login_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    (file := tmp_path / "login.toml").write_text(text)
    with pytest.raises(BadInput, match=said) as refused:
        login_of(file, {})
    assert "sesame" not in str(refused.value)


def test_a_session_is_renewed_three_times_an_hour() -> None:
    now = [0.0]
    login = Login(LoginForm("https://a.example/login", {}), lambda: now[0])
    assert [login.may_renew() for _ in range(MOST_LOGINS + 2)] == [True] * MOST_LOGINS + [False] * 2
    now[0] = HOUR
    assert login.may_renew()
