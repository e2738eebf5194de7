"""A browser without a screen: follows redirects, keeps cookies and answers forms.

Usage: form_browser.py [--elsewhere | --deny] [--seen FILE] URL

Every field that wants to be filled in gets the name of a person, every form is
sent, until a page has none. With --deny the link that cancels is followed
instead of the first form. A browser --elsewhere cannot reach the machine of the
one who logs in: it ends with the address it was to go to, and prints it.

FILE receives one line for each page: its status, its address and its text. Needs
nothing but Python; also started as $BROWSER, where nobody sees what it prints.
"""

import argparse
import http.cookiejar
import sys
from html.parser import HTMLParser
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, build_opener

PERSON = "ada"

# Login, consent, and the two questions of a device; more is a circle.
PAGES_MAX = 10

PAGE_SECONDS_MAX = 20


class Page(HTMLParser):
    """What a page asks for: its first form, the link that cancels, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.action: str | None = None
        self.fields: dict[str, str] = {}
        self.cancel: str | None = None
        self.words: list[str] = []
        self._link: str | None = None
        self._silent = False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self._silent = tag in ("style", "script", "title")
        if tag == "form" and self.action is None:
            self.action = given.get("action") or ""
        elif tag == "input" and given.get("name") and self.action is not None:
            wants_words = given.get("type", "text") in ("text", "password")
            self.fields[given["name"]] = given.get("value") or (PERSON if wants_words else "")
        elif tag == "a":
            self._link = given.get("href")

    def handle_endtag(self, tag):
        self._silent = False

    def handle_data(self, data):
        if self._silent or not data.strip():
            return
        self.words.append(" ".join(data.split()))
        if "cancel" in data.lower():
            self.cancel = self._link


class Elsewhere(Exception):
    """The address that only the machine of the one who logs in can open."""


class Redirects(HTTPRedirectHandler):
    def __init__(self, forbidden: str | None) -> None:
        self.forbidden = forbidden

    def redirect_request(self, request, body, code, message, headers, url):
        if self.forbidden and url.startswith(self.forbidden):
            raise Elsewhere(url)
        return super().redirect_request(request, body, code, message, headers, url)


class Browser:
    def __init__(self, forbidden: str | None, seen: str | None) -> None:
        cookies = HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = build_opener(cookies, Redirects(forbidden))
        self.seen = seen

    def open(self, url: str, fields: dict[str, str] | None = None) -> tuple[str, Page]:
        body = None if fields is None else urlencode(fields).encode()
        try:
            answer = self.opener.open(url, body, timeout=PAGE_SECONDS_MAX)
        except HTTPError as error:
            answer = error
        page = Page(answer.read().decode())
        if self.seen:
            with open(self.seen, "a", encoding="utf-8") as file:
                file.write(f"{answer.status} {answer.url} {' '.join(page.words)}\n")
        return answer.url, page


def browse(browser: Browser, url: str, denies: bool) -> None:
    address, page = browser.open(url)
    for _ in range(PAGES_MAX):
        if denies and page.cancel:
            address, page = browser.open(urljoin(address, page.cancel))
        elif page.action is not None:
            address, page = browser.open(urljoin(address, page.action), page.fields)
        else:
            return
    sys.exit(f"form_browser.py: the forms do not end: {address}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--elsewhere", action="store_true")
    parser.add_argument("--deny", action="store_true")
    parser.add_argument("--seen", metavar="FILE")
    parser.add_argument("url", metavar="URL")
    arguments = parser.parse_args()
    redirect = parse_qs(urlsplit(arguments.url).query).get("redirect_uri", [None])[0]
    browser = Browser(redirect if arguments.elsewhere else None, arguments.seen)
    try:
        browse(browser, arguments.url, arguments.deny)
    except Elsewhere as where:
        print(where)


if __name__ == "__main__":
    main()
