"""A paper as an HTML page: everything escaped, cross-references lead somewhere, nothing foreign is loaded."""

import base64
import hashlib
import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from lxml import html as reader

from ingest.export import to_html
from ingest.export.html_page import linked
from paperscope_core.types import Figure, Link, Passage
from tests.ingest.export.sample_papers import PLACE, cell, paper_of, table, whole_paper

TEXTS = st.text(alphabet="ab <>&\"'/=:;-!x0[]\n", max_size=40)
HOSTILE = "<img src=x onerror=alert(1)>\"'&</title></style><script>"


def tree(page: str) -> reader.HtmlElement:
    return reader.document_fromstring(page)


def link(text: str, target: str) -> Link:
    return Link(source="p/passage-1", target=target, text=text)


def test_a_whole_paper_is_a_page() -> None:
    page = tree(to_html(whole_paper().paper))
    body = " ".join(page.body.text_content().split())
    for words in (
        "A. Author A University",
        "1 Start",
        "(a) two",
        "Table 5 Results",
        "BERT91.3",
        "(b) right",
        "¹A note.",
    ):
        assert words in body
    assert "page 7" not in body
    assert page.xpath("//pre/text()") == ["for x in y:\n    print(x)"]
    assert page.xpath("//img/@src") == ["tables/table-5.png", "figures/figure-1.png", "equations/equation-3.png"]


def test_every_cross_reference_leads_to_an_anchor_and_no_anchor_stands_twice() -> None:
    page = tree(to_html(whole_paper().paper))
    anchors = page.xpath("//@id")
    assert len(anchors) == len(set(anchors))
    targets = page.xpath("//a/@href")
    assert {"#p/table-8", "#p/reference-13"} <= set(targets)
    assert {target[1:] for target in targets} <= set(anchors)


def test_the_policy_allows_the_pages_own_style_and_pictures_only() -> None:
    page = tree(to_html(whole_paper().paper))
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    (style,) = page.xpath("//style/text()")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.split("; ") == [
        "default-src 'none'",
        "img-src 'self' file:",
        f"style-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert not page.xpath("//script | //link | //iframe | //@style | //@onclick")


def test_hostile_texts_stay_texts_wherever_they_stand() -> None:
    elements = [
        Passage(id="p/passage-1", place=PLACE, order=0, text=HOSTILE, role=role, label=HOSTILE, caption=HOSTILE)
        for role in ("authors", "abstract", "heading", "paragraph", "list", "footnote", "code")
    ]
    figure = Figure(id="", place=PLACE, order=0, label=HOSTILE, caption=HOSTILE, text=HOSTILE, crop="c")
    paper = paper_of(
        *elements, figure, table(cell(0, 0, HOSTILE), label=HOSTILE, caption=HOSTILE), title=HOSTILE,
        links=(Link(source="p/passage-1", target="p/figure-8", text=HOSTILE[:9]),),
    )  # fmt: skip
    page = tree(to_html(paper))
    assert not page.xpath("//script | //@onerror")
    assert {src for src in page.xpath("//img/@src") if "/" not in src} == set()
    assert page.xpath("//title/text()") == [HOSTILE]


def test_a_table_keeps_its_spans_and_scrolls_on_its_own() -> None:
    page = tree(to_html(paper_of(table(cell(0, 0, "English", columns=2), cell(1, 0, "1"), cell(1, 1, "2")))))
    assert page.xpath("//div[@class='scroll']/table//td/@colspan") == ["2"]


def test_a_table_without_cells_shows_its_picture_at_once() -> None:
    page = tree(to_html(paper_of(replace(table(label="Table 2"), crop="c" * 64))))
    assert page.xpath("//figure/img/@src") == ["tables/table-2.png"]
    assert not page.xpath("//table")


def test_sections_are_nested_as_their_headings_are() -> None:
    paper = whole_paper().paper
    heading = Passage(id="p/passage-1", place=PLACE, order=0, text="1.1 Deep", role="heading", section="s2", level=2)
    inner = replace(paper.sections[0], id="s2", level=2)
    deep = replace(paper, sections=(*paper.sections, inner), elements=(paper.elements[2], heading))
    page = tree(to_html(deep))
    assert page.xpath("//main/section/section/@id") == ["s2"]
    assert page.xpath("//section/section/h3/text()") == ["1.1 Deep"]


def test_words_become_links_and_parts_of_words_do_not() -> None:
    links = [link("Table 1", "t1"), link("Table 10", "t10"), link("Section 3", "s3")]
    shown = linked("Table 1, Table 10, Table 1.5, Tables, Section 3.1 and Section 3.", links)
    assert re.findall(r'href="#(\w+)">([^<]+)<', shown) == [("t1", "Table 1"), ("t10", "Table 10"), ("s3", "Section 3")]


def test_words_that_name_several_elements() -> None:
    two = [link("Figs. 2 and 3", "f2"), link("Figs. 2 and 3", "f3")]
    assert linked("see Figs. 2 and 3.", two) == 'see <a href="#f2">Figs. 2</a> and <a href="#f3">3</a>.'
    three = [link("Figs. 2–4", target) for target in ("f2", "f3", "f4")]
    assert linked("Figs. 2–4", three) == '<a href="#f2">Figs. 2–4</a>'


def test_numbers_inside_a_group_of_citations() -> None:
    shown = linked("as in [3, 12] and 12 others", [link("[12]", "r12")])
    assert shown == 'as in [3, <a href="#r12">12</a>] and 12 others'


@given(TEXTS, st.lists(TEXTS, max_size=4))
def test_links_change_no_text(text: str, words: list[str]) -> None:
    shown = linked(text, [link(word, f"t{number}") for number, word in enumerate(words)])
    whole = reader.fragment_fromstring(f"<div>{shown}</div>")
    assert whole.text_content() == text
    assert {element.tag for element in whole} <= {"a"}


def test_an_empty_paper_is_a_page() -> None:
    assert tree(to_html(paper_of(title=""))).xpath("//h1")
