"""Texts in a character set that they do not state are read in it, and the confidence is said."""

from pathlib import Path

import pytest

from ingest.parsers import parser_for
from ingest.readers.character_sets import decode
from paperscope_core.errors import PaperFileError
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import PaperFile, Table

# ruff: noqa: E501 - each text is a line
TEXTS = [
    ("cp1255", "Windows-1255", "תקציר\n\nבמאמר זה נבדקת למידה עמוקה. הדיוק הוא 91.2%.\n"),
    (
        "cp1255",
        "Windows-1255",
        "לחות הקרקע ויבול השעורה\n\nבמחקר זה נמדדה לחות הקרקע בעשרים ושלוש חלקות. התוצאות מראות כי היבול עלה כאשר הלחות הייתה גבוהה.\n",
    ),
    (
        "cp1254",
        "Windows-1254",
        "Özet\n\nBu çalışmada derin öğrenme incelenmiştir. Doğruluk %91,2 olarak ölçülmüştür.\n",
    ),
    (
        "cp1254",
        "Windows-1254",
        "Toprak nemi ve arpa verimi\n\nBu çalışmada yirmi üç parselde toprak nemi ölçülmüştür. Sonuçlar, nemin yüksek olduğu yerlerde verimin arttığını göstermektedir.\n",
    ),
    (
        "cp1252",
        "Windows-1252",
        "Bodenfeuchte und Ertrag von Gerste\n\nIn dieser Studie wurde die Bodenfeuchte auf 23 Flächen gemessen. Für größere Flächen waren die Erträge höher als früher.\n",
    ),
    (
        "cp1252",
        "Windows-1252",
        "Raki jarðvegs og uppskera byggs\n\nÍ þessari rannsókn var raki jarðvegs mældur á 23 reitum. Niðurstöður sýna að uppskeran jókst þar sem rakinn var hár. Það á við um öll svæði.\n",
    ),
    ("cp1252", "Windows-1252", "The naïve café model reaches 5 ± 2 µm.\n"),
    ("cp1252", "Windows-1252", "# Soil\n\nThe “best” model — Müller’s — reaches 5 ± 2 µm at 20 °C.\n"),
    (
        "cp1252",
        "Windows-1252",
        "Humedad del suelo\n\nEn este artículo se midió la humedad. ¿Cuánto aumentó? El año siguiente aún más.\n",
    ),
    (
        "cp1250",
        "Windows-1250",
        "Streszczenie\n\nW pracy badamy uczenie głębokie. Dokładność wynosi 91,2%. Wyniki są lepsze niż wcześniej.\n",
    ),
    (
        "cp1250",
        "Windows-1250",
        "Vlhkost půdy\n\nV této práci byla měřena vlhkost půdy na 23 pozemcích. Výsledky ukazují, že výnos byl vyšší.\n",
    ),
    (
        "cp1250",
        "Windows-1250",
        "Talajnedvesség és árpatermés\n\nEbben a tanulmányban huszonhárom parcellán mértük a talajnedvességet. Az eredmények szerint a termés nőtt.\n",
    ),
    (
        "cp1251",
        "Windows-1251",
        "Вологість ґрунту\n\nУ цій роботі виміряно вологість ґрунту на 23 ділянках. Результати показують, що врожай зріс.\n",
    ),
    ("cp1253", "Windows-1253", "Περίληψη\n\nΗ εργασία μελετά τη βαθιά μάθηση. Ακρίβεια 91.2%.\n"),
    (
        "cp1257",
        "Windows-1257",
        "Dirvos drėgmė\n\nŠiame darbe buvo matuojama dirvos drėgmė dvidešimt trijuose sklypuose. Rezultatai rodo, kad derlius padidėjo.\n",
    ),
    ("cp1256", "Windows-1256", "ملخص\n\nتدرس هذه الورقة التعلم العميق. الدقة هي 91.2%.\n"),
    ("cp874", "Windows-874", "ความชื้นในดิน\n\nงานวิจัยนี้วัดความชื้นในดินของแปลงทดลองยี่สิบสามแปลง\n"),
    ("koi8_r", "KOI8-R", "Аннотация\n\nВ работе исследуется применение глубокого обучения. Точность 91.2%.\n"),
    ("big5", "Big5", "摘要\n\n本文研究深度學習在醫學影像分割中的應用。準確率為 91.2%。\n"),
    ("big5", "Big5", "# 土壤濕度\n\n| 樣地 | 產量 |\n| --- | --- |\n| 北 | 5.2 |\n"),
    ("gbk", "GB 18030", "# 土壤湿度\n\n| 样地 | 产量 |\n| --- | --- |\n| 北 | 5.2 |\n"),
    ("euc_kr", "EUC-KR", "초록\n\n본 논문에서는 심층 학습을 이용한 영상 분류를 제안한다. 정확도는 91.2%이다.\n"),
    ("euc_kr", "EUC-KR", "# 토양 수분\n\n보리 수확량 5.2\n"),
    ("cp932", "Shift JIS", "# 土壌水分\n\n収量は5.2であった。\n"),
    ("euc_jp", "EUC-JP", "概要\n\n本研究では深層学習を用いて画像を分類した。精度は91.2%であった。\n"),
]


@pytest.mark.parametrize(("encoding", "name", "text"), TEXTS)
def test_a_text_is_read_in_its_character_set(encoding: str, name: str, text: str) -> None:
    found, (problem,) = decode(text.encode(encoding), name="a.txt")
    assert found == text
    assert problem.reason.startswith(f"the file does not state its character set; it was read as {name}, confidence ")


def test_utf_8_is_certain() -> None:
    assert decode("Größe 5 µm – 概要".encode(), name="a.txt") == ("Größe 5 µm – 概要", ())


def test_the_declared_character_set_of_markup_counts_first() -> None:
    page = "<meta charset=windows-1251><p>Größe</p>".encode("cp1252")
    assert decode(page, name="a.html", declared=True) == (page.decode("cp1251"), ())


def test_bytes_of_no_character_set_are_refused() -> None:
    noise = bytes(0x80 + (7 * at) % 0x7F for at in range(600))
    with pytest.raises(PaperFileError, match="Save it as UTF-8"):
        decode(b"Title\n\n" + noise, name="a.txt")


def test_a_table_in_a_chinese_character_set_is_a_table(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes("# 水稻产量\n\n| 地块 | 产量 |\n|---|---|\n| 东 | 4.1 |\n| 西 | 5.7 |\n".encode("gbk"))
    paper = parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(file)).paper
    (table,) = (element for element in paper.elements if isinstance(element, Table))
    assert table.grid() == [["地块", "产量"], ["东", "4.1"], ["西", "5.7"]]
