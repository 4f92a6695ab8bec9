"""The login of a crawl: it submits a form before the first page, and again when the session has ended."""

from __future__ import annotations

import time
import tomllib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scrapy import FormRequest, Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import address
from graphbrain.crawl.scrapy import EVERY, asks_for_password

__all__ = ["MOST_LOGINS", "Login", "LoginForm", "login_of"]

MOST_LOGINS, HOUR = 3, 3_600.0
"""A session is renewed at most `MOST_LOGINS` times in `HOUR` seconds."""
NAMES = ("url", "fields", "success")
FORM = "//form[.//input[translate(@type, 'PASWORD', 'pasword') = 'password']]"
"""The XPath of a form with a field for a password."""


@dataclass(frozen=True, slots=True)
class LoginForm:
    """A form to log in with.

    Attributes:
        url: The address of the page with the form.
        fields: Name of a field → its value. Fields that the page fills in itself are sent, too.
        success: A text that only a page after the login contains. Empty: a page without a field for a password is one.
    """

    url: str
    fields: Mapping[str, str] = field(repr=False)
    success: str = ""


def login_of(file: Path, environment: Mapping[str, str]) -> LoginForm:
    """Return the form that a file in TOML describes. A value that begins with `$` is that of an environment variable.

    Raises:
        BadInput: The file cannot be read, or is not complete. Its text omits the values of the fields.
    """
    # Read the file.
    try:
        entries = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadInput(f"--login {file} cannot be read ({error.strerror or error}).") from None
    except (tomllib.TOMLDecodeError, UnicodeError) as error:
        raise BadInput(f"--login {file} is no TOML ({error}).") from None
    # Check names and types, and read secrets from the environment.
    if unknown := sorted(entries.keys() - {*NAMES}):
        raise BadInput(f"--login {file}: {unknown[0]!r:.40} is none of {', '.join(NAMES)}.")
    url, fields, success = entries.get("url"), entries.get("fields"), entries.get("success", "")
    if not isinstance(url, str) or not isinstance(fields, dict) or not fields or not isinstance(success, str):
        raise BadInput(
            f'--login {file} needs the form\'s address and its fields, as in: url = "https://a.example/login", '
            'fields = {name = "$MEMBER", password = "$PASSWORD"}.'
        )
    try:
        url = address(url)
    except BadInput as error:
        raise BadInput(f"--login {file}: {url!r:.80} is no address of a form: {error}") from None
    return LoginForm(url, {name: _value(file, name, text, environment) for name, text in fields.items()}, success)


def _value(file: Path, name: str, text: Any, environment: Mapping[str, str]) -> str:
    if not isinstance(text, str):
        raise BadInput(f"--login {file}: the field {name!r:.40} needs a text.")
    if not text.startswith("$") or text == "$":
        return text
    if not environment.get(text[1:]):
        raise BadInput(f"--login {file}: the environment variable {text[1:]} of the field {name!r:.40} is not set.")
    return environment[text[1:]]


class Login:
    """A client that logs in by a form. Only the thread of the event loop uses it.

    Args:
        form: The form.
        clock: Monotonic seconds.
    """

    def __init__(self, form: LoginForm, clock: Callable[[], float] = time.monotonic) -> None:
        self.form, self._clock = form, clock
        self._renewed: deque[float] = deque(maxlen=MOST_LOGINS)

    def may_renew(self) -> bool:
        """Return whether the session may be renewed once more. If so, count the renewal."""
        now = self._clock()
        if len(self._renewed) == MOST_LOGINS and now < self._renewed[0] + HOUR:
            return False
        self._renewed.append(now)
        return True

    async def log_in(self, crawler: Crawler) -> str:
        """Submit the form. Return the reason of a failure, as a clause; empty after a success."""
        url = self.form.url
        # Fetch the page with the form, fill the form in, and submit it.
        try:
            page = await self._get(crawler, Request(url, meta=_meta(), dont_filter=True))
            if not isinstance(page, HtmlResponse) or not asks_for_password(page):
                return f"{url} has no form with a field for a password (status {page.status})"
            form = FormRequest.from_response(
                page, formxpath=FORM, formdata=dict(self.form.fields), meta=_meta(), dont_filter=True
            )
            answer = await self._get(crawler, form)
        except Exception as error:  # noqa: BLE001  # no answer, an error of a middleware, a form that cannot be read
            return f"{url} cannot be asked ({type(error).__name__})"
        # Check the answer.
        if self._has_worked(answer):
            return ""
        where = "" if answer.url == url else f" at {answer.url}"
        return f"the form at {url} was not accepted (status {answer.status}{where}): check its fields and their values"

    def _has_worked(self, answer: Response) -> bool:
        if self.form.success:
            return self.form.success in getattr(answer, "text", "")
        return answer.status < 400 and not asks_for_password(answer)

    async def _get(self, crawler: Crawler, request: Request) -> Response:
        assert crawler.engine is not None
        return await crawler.engine.download_async(request)


def _meta() -> dict[str, Any]:
    """Return the meta of a request of a login: it is no page, and the user has asked for it, whatever robots.txt has
    for crawlers."""
    return {EVERY: True, "dont_obey_robotstxt": True, "dont_cache": True, "dont_retry": True}
