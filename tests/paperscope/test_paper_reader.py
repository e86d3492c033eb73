"""`Library.read`: the reading tools in Python."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from paperscope import InputError, Library, NotFoundError, Settings, ToolCall, UnknownPaperError


@pytest.fixture(scope="module")
def library(example_library: Path) -> Iterator[Library]:
    with Library.open(example_library, settings=Settings()) as opened:
        yield opened


def test_every_tool_has_a_method(library: Library) -> None:
    read = library.read
    assert read.section("3.4").items[0].section == "3 How NER Is Scored > 3.4 Adapters and averaged weights"
    (table,) = read.element("Table 9").items
    assert library.crop(table.crop).startswith(b"\x89PNG")
    assert read.page(5).items[0].page == 5
    assert read.reference("Hu et al., 2022").items[0].label == "Hu et al., 2022"
    assert read.outline("Four Reports").items == read.outline().items
    assert read.papers("rulers").items == read.papers().items
    assert any("256" in item.text for item in read.search("LoRA rank and alpha").items)
    assert read.section("4", part=2).call.part == 2
    assert str(read.section("3.4")).startswith("[Four Reports, Four Rulers")


def test_the_awaitable_form_gives_the_same(library: Library) -> None:
    call = ToolCall(tool="section", argument="3.4")
    assert asyncio.run(library.look_up_async(call)) == library.look_up(call)


def test_bad_input_is_an_error_that_names_the_remedy(library: Library) -> None:
    with pytest.raises(NotFoundError, match=r"no section '9\.9' in 'Four Reports"):
        library.read.section("9.9")
    with pytest.raises(UnknownPaperError, match="no paper 'zzz' in the library"):
        library.read.outline("zzz")
    with pytest.raises(InputError, match="can't be searched for"):
        library.read.search("")


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("这项研究有什么局限?", "只使用新闻文本"),
        ("学习率是多少?", "学习率为0.001"),
        ("การศึกษานี้มีข้อจำกัดอะไร", "ข้อจำกัดคือ"),
    ],
)
def test_text_of_scripts_without_spaces_is_found(tmp_path: Path, question: str, found: str) -> None:
    (tmp_path / "zh.md").write_text(
        "# 命名实体识别的比较\n\n## 方法\n\n模型使用双向编码器。学习率为0.001。\n\n"
        "## 结果\n\n两个数据集的结果不同。\n\n"
        "## 局限\n\n本研究只使用新闻文本。\n",
        encoding="utf-8",
    )
    (tmp_path / "th.md").write_text(
        "# การเปรียบเทียบ\n\n## ผลลัพธ์\n\nแบบจำลองที่ฝึกนานกว่าแม่นยำกว่า\n\n## อภิปราย\n\nข้อจำกัดคือเราใช้ข่าวเท่านั้น\n",
        encoding="utf-8",
    )
    with Library.open(tmp_path / "library", settings=Settings()) as opened:
        for file in tmp_path.glob("*.md"):
            opened.add(file)
        first = opened.read.search(question).items[0]
    assert found in first.text
