"""Right-to-left text as it is read, from how it is printed."""

import pytest

from ingest.document.text_direction import logical_order


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        (".2024 תנשב 91.2% לש קוידב )Soil2Vec( תוקלח", "חלקות (Soil2Vec) בדיוק של 91.2% בשנת 2024."),
        ("ןושאר רפסמ 5 הלבט", "טבלה 5 מספר ראשון"),
        ("the word םולש here", "the word שלום here"),
        (".(2020 ,يلع) لودج", "جدول (علي, 2020)."),
        ("plain (a) text", "plain (a) text"),
        ("", ""),
    ],
)
def test_lines_are_read_from_their_side(printed: str, read: str) -> None:
    assert logical_order(printed) == read
