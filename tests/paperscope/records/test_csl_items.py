"""Items of CSL-JSON, Crossref and Zotero, and what only looks like one."""

from hypothesis import given
from hypothesis import strategies as st

from paperscope.records.csl_items import csl_record
from paperscope_core.codec import from_json, to_json
from paperscope_core.types import BibRecord
from tests.paperscope.records.web import CROSSREF, RETRACTION

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["title", "author", "issued", "container-title", "page", "DOI", "URL", "number", "type", "updated-by"]


def test_a_work_of_crossref_is_read() -> None:
    found = csl_record({**CROSSREF, "updated-by": RETRACTION}, origin="Crossref")
    published = found.publication
    assert (found.title, found.authors) == ("Darwin’s Legacy in Owls", ("Ludwig van der Berg", "Jörg Müller"))
    assert (published.kind, published.volume, published.issue, published.pages) == (
        "article-journal",
        "7",
        "3",
        "e1000053",
    )
    assert (published.year, published.families) == (2009, ("van der Berg", "Müller"))
    assert published.retraction == "retraction 2011-02-06, doi:10.5555/notice"
    assert csl_record({**CROSSREF, "updated-by": RETRACTION[:1]}, origin="Crossref").publication.retraction == ""


@given(
    st.dictionaries(
        st.sampled_from(FIELDS), JSON | st.lists(st.dictionaries(st.sampled_from(["type", "family"]), JSON))
    )
)
def test_any_json_gives_a_record_that_can_be_stored(item: dict[str, object]) -> None:
    record = csl_record(item, origin="Crossref")
    assert from_json(BibRecord, to_json(record)) == record
