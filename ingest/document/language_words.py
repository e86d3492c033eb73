"""What papers in other languages than English call floats, abstracts and bibliographies.

Compiled after the names in Babel's locale files (CTAN, `babel-locale`: `figure`, `table`, `abstract`, `ref` and `bib`
of their captions), with short forms and synonyms that journals of these languages print.
"""

__all__ = ["ABSTRACTS", "BIBLIOGRAPHIES", "FIGURES", "TABLES"]

TABLES = (
    "Tabelle Tableau Tabla Cuadro Tabella Tabela Tabel Taula Tablica Tabulka Tabuľka Tabell "
    "Taulukko Tablo Çizelge Tabelul Bảng Таблица Табл. Таблиця Табліца Табела Πίνακας جدول الجدول "
    "טבלה לוח 表 表格 표 ตารางที่ ตาราง सारणी तालिका"
).split()
"""Names of tables, the first word of their captions."""

FIGURES = (
    "Abbildung Abb. Figura Figuur Figur Rysunek Rys. Obrázek Obr. Obrázok Slika Kuva Şekil Gambar "
    "Hình Рисунок Рис. Малюнак Слика Фигура Σχήμα شكل الشكل شکل איור 图 圖 図 그림 ภาพที่ รูปที่ चित्र"
).split()
"""Names of figures."""

BIBLIOGRAPHIES = (
    "Literatur|Literaturverzeichnis|Quellenverzeichnis|Références|Références bibliographiques|"
    "Bibliographie|Referencias|Referencias bibliográficas|Bibliografía|Riferimenti bibliografici|"
    "Bibliografia|Referências|Referências bibliográficas|Referències|Referenties|Literatuur|"
    "Literatura|Literatúra|Piśmiennictwo|Reference|Seznam literatury|Referenser|Referanser|"
    "Litteratur|Litteraturliste|Litteraturförteckning|Viitteet|Lähteet|Kaynaklar|Kaynakça|"
    "Bibliografie|Daftar Pustaka|Tài liệu tham khảo|Список литературы|Литература|"
    "Список використаних джерел|Література|Библиография|Βιβλιογραφία|Αναφορές|المراجع|المصادر|مراجع|"
    "منابع|מקורות|ביבליוגרפיה|רשימת מקורות|参考文献|參考文獻|引用文献|참고문헌|참고 문헌|เอกสารอ้างอิง|บรรณานุกรม|"
    "संदर्भ"
).split("|")
"""Titles of bibliographies."""

ABSTRACTS = (
    "Zusammenfassung|Kurzfassung|Résumé|Resumen|Riassunto|Sommario|Resumo|Resum|Samenvatting|"
    "Streszczenie|Abstrakt|Sammanfattning|Sammendrag|Resumé|Tiivistelmä|Özet|Abstrak|Tóm tắt|"
    "Аннотация|Анотація|Резюме|Περίληψη|ملخص|الملخص|چکیده|תקציר|摘要|要旨|概要|초록|요약|บทคัดย่อ|सारांश"
).split("|")
"""Titles of abstracts."""
