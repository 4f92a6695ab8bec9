"""Links that end a session, and URLs that name a login."""

from __future__ import annotations

import pytest

from graphbrain.base.urls.logins import leads_out, names_login

SITE = "https://a.example"


@pytest.mark.parametrize(
    "link",
    [
        *(
            "/logout",
            "/log-out/",
            "/Logoff.php",
            "/user/sign_out?next=/",
            "/SIGN-OUT",
            "/abmelden",
            "/d%C3%A9connexion",
        ),
        *(
            "/cerrar-sesi%C3%B3n",
            "/cerrar-sesion",
            "/w/index.php?title=Special:Logout",
            "/wiki/Special:UserLogout",
            "/wp-login.php?action=logout",
        ),
        *(
            "/?logout",
            "/wiki/Special:UserLogout",
            "/?logout=1",
            "/logout;jsessionid=1",
            "/m/1/delete",
            "/delete/1",
            "/list?do=remove",
            "/unsubscribe/9",
        ),
    ],
)
def test_links_that_end_a_session_or_delete(link: str) -> None:
    assert leads_out(SITE + link)


@pytest.mark.parametrize(
    "link",
    [
        "/",
        "/logout/faq",
        "/how-to-log-out",
        "/blogout",
        "/deleted",
        "/?q=log+in",
        "/login",
        "http://[/",
        "/?q=a/logout",
    ],
)
def test_links_that_do_not(link: str) -> None:
    assert not leads_out(SITE + link)


@pytest.mark.parametrize("link", ["/login?next=/a", "/users/sign_in", "/login/index.php", "/w?title=Special:UserLogin"])
def test_logins(link: str) -> None:
    assert names_login(SITE + link) and not names_login(f"{SITE}/a?next={link}")
