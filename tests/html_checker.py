"""Parses the HTML of displayed values, and checks that it is safe."""

from html.parser import HTMLParser

__all__ = ["HOSTILE_TEXT", "check_html"]


HOSTILE_TEXT = "<script>alert(1)</script>\" onload='x' </style><img src=https://evil.example/x>"


class Tags(HTMLParser):
    """Collects tags and text; fails on a tag that is closed wrongly, and on what runs or fetches something."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            assert not name.startswith("on"), f"{name} runs a script"
            assert name not in ("href", "srcset", "action", "xlink:href"), f"{name} leads out of the page"
            assert name != "src" or (value or "").startswith("data:image/png;base64,"), f"{value} is fetched"
        if tag not in ("br", "img", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def check_html(html: str) -> Tags:
    """The tags and the text of a fragment; fails where it is broken, runs a script or reaches out."""
    tags = Tags()
    tags.feed(str(html))  # parts of `Markup` are `Markup`
    tags.close()
    assert not tags.open
    assert "script" not in tags.tags
    assert "url(" not in html
    assert "@import" not in html
    return tags
