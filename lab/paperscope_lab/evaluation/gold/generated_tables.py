"""Typesets papers whose tables are known, in the styles of LaTeX, Pandoc and word processors.

The texts are random words: nothing but the layout says which cell a word belongs to. A style is a document for
`--part`, so some styles are held out entirely.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.papers import Gold, GoldItem, GoldSpan, GoldTable

__all__ = ["GENERATED_SET", "STYLES", "generated_items", "typeset_paper"]

GENERATED_SET = "generated-tables"
_SEEDS = range(6)
_TABLES_PER_PAPER = 3
_POINTS_PER_WORD = 7.0  # So that a text has at most about five lines.
_POINTS_PER_LETTER = 7.0  # The longest words fit into their column.
_FONTS = ("Libertinus Serif", "New Computer Modern", "DejaVu Sans Mono")
_WORDS = (
    "model data set value method approach learner teacher course student sample error rate measure test training "
    "language task result score system analysis report number baseline feature network layer human label corpus "
    "question answer document section paper reader index graph query entity relation field unit cost time memory "
    "review topic level group control effect outcome variable response survey design phase goal practice module "
    "lesson exercise code version package function argument package library user account session page image region "
    "of in for with and or to by from on at as over under between without during after before each every "
    "is are uses gives shows takes needs holds makes finds reads writes keeps returns describes supports requires "
    "new large small open shared common local global linear random mean total early late short long high low "
    "introductory statistical computational experimental independent representative characteristics documentation"
).split()
_NAMES = (
    "Alpha Bravo Delta Falcon Gemini Kepler Llama Mistral Nova Orion Phoenix Quartz Raven Sigma Titan Vega Willow"
).split()
_TITLES = (
    "Model Size Data Acc F1 Cost Time Recall Precision Error N Mean SD Rate Score BLEU Dev Test Train p R2".split()
)
_GROUPS = ("Source", "Target", "In domain", "Out of domain", "Zero shot", "Few shot", "Corr Cite", "Group A", "English")
_TEXT_TITLES = (
    "Topic", "Description", "Activity", "Purpose", "Outcome", "Tool", "Notes", "Week", "Category", "Learning goal",
    "Time needed for it", "Type of task", "Where it is used",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Style:
    """How the tables of a paper look.

    `gap` is the range of the space between rows beyond that between lines, in letter sizes; `wrapped` says that texts
    wrap within columns of fixed width; `long_stubs` that the names of rows wrap, too, `numbered` that a column holds
    values beside wrapped texts, `listed` that cells hold several lines that don't fill their column. `contents` are
    those of the columns beside the names, `coded` says that identifiers are the names; `leading` is the space between
    lines, in letter sizes.
    """

    rules: Literal["booktabs", "grid", "rows", "none"] = "booktabs"
    wrapped: bool = False
    gap: tuple[float, float] = (0.0, 0.4)
    pages: Literal["one column", "two columns", "beside"] = "one column"
    header: Literal["plain", "ruled groups", "groups"] = "plain"
    blocks: Literal["none", "sections", "spans"] = "none"
    middle: bool = False
    rows: tuple[int, int] = (4, 9)
    tight: bool = False
    hyphenate: bool = False
    shaded: bool = False
    continued: bool = False
    numbered: bool = False
    long_stubs: bool = False
    listed: bool = False
    captioned: bool = True
    contents: Literal["values", "texts", "codes", "words", "numbers"] = "values"
    coded: bool = False
    leading: tuple[float, ...] = (0.45, 0.55, 0.65)


STYLES = {
    "booktabs": Style(),
    "booktabs-groups": Style(header="ruled groups"),
    "groups-without-rules": Style(header="groups"),
    "sections": Style(blocks="sections"),
    "row-spans": Style(blocks="spans"),
    "text-spans": Style(blocks="spans", contents="texts", rows=(5, 14)),
    "spanned-texts": Style(blocks="spans", contents="texts", rows=(5, 14)),
    "short-texts": Style(contents="texts", gap=(0.0, 0.2)),
    "tight": Style(tight=True, pages="two columns", header="ruled groups"),
    "no-rules": Style(rules="none", gap=(0.2, 0.5)),
    "plain-booktabs": Style(gap=(0.0, 0.2)),
    "full-grid": Style(rules="grid"),
    "column-width": Style(pages="two columns"),
    "side-by-side": Style(pages="beside"),
    "wrapped-beside": Style(pages="beside", wrapped=True, rows=(3, 5)),
    "pandoc-plain": Style(wrapped=True, gap=(0.0, 0.05)),
    "pandoc-texts": Style(wrapped=True, gap=(0.0, 0.1), rows=(3, 12)),
    "pandoc-names": Style(wrapped=True, gap=(0.0, 0.05), long_stubs=True),
    "pandoc-values": Style(wrapped=True, gap=(0.0, 0.1), numbered=True),
    "spaced-rows": Style(wrapped=True, gap=(0.2, 0.6), long_stubs=True),
    "word-grid": Style(wrapped=True, rules="grid", long_stubs=True),
    "word-rows": Style(wrapped=True, rules="rows", middle=True, gap=(0.3, 0.8)),
    "word-shaded": Style(wrapped=True, rules="none", shaded=True, gap=(0.2, 0.6)),
    "word-plain": Style(wrapped=True, rules="none", gap=(0.1, 0.5), numbered=True),
    "hyphenated": Style(wrapped=True, hyphenate=True, gap=(0.0, 0.3), pages="two columns"),
    "continued": Style(continued=True, rows=(30, 60)),
    "continued-texts": Style(wrapped=True, continued=True, rows=(12, 20), gap=(0.0, 0.5)),
    "lists": Style(wrapped=True, listed=True, gap=(0.1, 0.5)),
    "lists-in-grid": Style(wrapped=True, listed=True, rules="rows", rows=(3, 6)),
    "uncaptioned": Style(wrapped=True, continued=True, captioned=False, rows=(8, 16), gap=(0.0, 0.3)),
    "uncaptioned-values": Style(captioned=False),
    "middle-without-rules": Style(wrapped=True, middle=True, gap=(0.5, 1.0)),
    "codes": Style(contents="codes", coded=True, gap=(0.0, 0.2), rows=(4, 14)),
    "codes-and-texts": Style(contents="texts", coded=True, gap=(0.0, 0.2), rows=(4, 14)),
    "codes-without-rules": Style(contents="texts", coded=True, rules="none", gap=(0.0, 0.4), rows=(4, 14)),
    "single-words": Style(contents="words", gap=(0.0, 0.2), rows=(4, 14)),
    "words-in-blocks": Style(contents="words", blocks="spans", rows=(5, 14)),
    "numbers-only": Style(contents="numbers", rows=(4, 14)),
    "short-texts-by-sections": Style(contents="texts", blocks="sections", gap=(0.0, 0.2), rows=(6, 14)),
    "wrapped-codes": Style(wrapped=True, coded=True, gap=(0.0, 0.1), rows=(4, 9)),
    "wrapped-arguments": Style(wrapped=True, coded=True, gap=(0.0, 0.4), rules="none", rows=(4, 9)),
    "wrapped-dense": Style(wrapped=True, gap=(0.0, 0.1), leading=(0.3, 0.35, 0.4)),
    "wrapped-loose": Style(wrapped=True, gap=(0.0, 0.5), leading=(0.75, 0.9, 1.0), long_stubs=True),
    "short-texts-loose": Style(contents="texts", gap=(0.0, 0.2), leading=(0.75, 0.9, 1.0), rows=(4, 14)),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cell:
    text: str
    rows: int = 1
    columns: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    """Rows of cells (a cell that spans is in its first row and column), the rows of the header and of sections."""

    rows: tuple[tuple[_Cell, ...], ...]
    width: int
    header: int
    sections: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()
    groups: tuple[tuple[int, int], ...] = ()
    widths: tuple[float, ...] = ()
    align: tuple[str, ...] = ()

    def gold(self, *, number: str, caption: str | None) -> GoldTable:
        grid = [[""] * self.width for _ in self.rows]
        covered: set[tuple[int, int]] = set()
        spans = []
        for row, cells in enumerate(self.rows):
            column = 0
            for cell in cells:
                while (row, column) in covered:
                    column += 1
                grid[row][column] = " ".join(cell.text.split("\n"))
                covered |= {(row + down, column + right) for down in range(cell.rows) for right in range(cell.columns)}
                if cell.rows > 1 or cell.columns > 1:
                    spans.append(GoldSpan(row=row, col=column, rowspan=cell.rows, colspan=cell.columns))
                column += cell.columns
        fixed = tuple(map(tuple, grid))
        return GoldTable(
            grid=fixed,
            logical=fixed,
            logical_row=tuple(range(len(fixed))),
            number=number,
            caption=caption,
            header_rows=tuple(range(self.header)),
            section_rows=self.sections,
            spans=tuple(spans),
        )


def _words(random: Random, least: int, most: int, *, longest: float = 99.0) -> str:
    words = [word for word in _WORDS if len(word) <= longest]
    return " ".join(random.choice(words) for _ in range(random.randint(least, most)))


def _sentence(random: Random, least: int = 8, most: int = 22) -> str:
    text = _words(random, least, most)
    return text[0].upper() + text[1:] + "."


def _cell_text(random: Random, least: int, most: int, *, width: float, capitals: float) -> str:
    """Return a text of a wrapped cell, with brackets, commas and numbers; `capitals` is the share of texts that have
    one."""
    most = max(least, min(most, int(width / _POINTS_PER_WORD)))
    words = _words(random, least, most, longest=width / _POINTS_PER_LETTER).split()
    for index in range(1, len(words)):
        if random.random() < 0.05:
            words[index] = random.choice((f"({words[index]})", f"{random.randint(2, 40)}", f"{words[index]},"))
    text = " ".join(words).removesuffix(",")
    return text[0].upper() + text[1:] if random.random() < capitals else text


def _list_text(random: Random) -> str:
    """Return two or three short lines, with or without numbers."""
    numbered = random.random() < 0.5
    return "\n".join(
        (f"{number}. " if numbered else "") + _words(random, 1, 3, longest=8)
        for number in range(1, random.randint(3, 4))
    )


def _name(random: Random, *, tight: bool) -> str:
    name = random.choice(_NAMES)
    if tight or random.random() < 0.3:
        return f"{name} {random.choice(('8B', '70B', '2', 'base', 'large', '(ours)', '3.1 8B'))}"
    return name + random.choice(("", "-2", "-XL", " + " + random.choice(_WORDS)))


def _short_text(random: Random, *, capitals: bool) -> str:
    text = _words(random, 1, 4)
    return (text[0].upper() + text[1:] if capitals else text) if random.random() > 0.1 else ""


def _code(random: Random, *, arguments: bool = True) -> str:
    """Return an identifier, a call or an option of a program."""
    first, second = (random.choice([word for word in _WORDS if len(word) < 9]) for _ in range(2))
    kinds = [f"{first}.{second[:4]}", f"{first[:6]}_{second[:4]}", f"{first}()", f"--{first}", first]
    return random.choice([*kinds, f"{first}({second} = {random.randint(1, 9)})"] if arguments else kinds)


def _value_maker(random: Random) -> Callable[[], str]:
    kinds: tuple[Callable[[], str], ...] = (
        lambda: f"{random.uniform(1, 99):.1f}",
        lambda: f"{random.uniform(0, 1):.3f}",
        lambda: f"{random.randint(1, 9999):,}",
        lambda: f"{random.uniform(0, 100):.0f}%",
        lambda: f"{random.uniform(10, 99):.2f} ± {random.uniform(0, 3):.2f}",
        lambda: f"{random.uniform(-1, 1):.2f} ({random.uniform(0, 1):.2f})",
    )
    kind = random.choices(kinds, weights=(6, 4, 2, 2, 1, 1))[0]
    return lambda: kind() if random.random() > 0.04 else "-"


def _text_maker(random: Random, style: Style) -> Callable[[], str]:
    """Make the short texts of a column."""
    capitals = random.random() < 0.5
    if style.contents == "codes":
        return lambda: _code(random) if random.random() > 0.1 else ""
    if style.contents == "words":
        return lambda: random.choice(_WORDS).capitalize() if capitals else random.choice(_WORDS)
    return lambda: _short_text(random, capitals=capitals)


def _row_name(random: Random, style: Style) -> str:
    if style.contents == "numbers":
        return str(random.randint(1, 999))
    return _code(random) if style.coded else _name(random, tight=style.tight)


def _values(random: Random, style: Style) -> _Table:  # noqa: PLR0915
    """Return a table of names and values."""
    pairs = random.randint(1, 2 if style.tight else 3)
    size = random.choice((2, 2, 3)) if pairs < 3 else 2
    narrow = style.pages != "one column"
    count = pairs * size if style.header != "plain" else random.randint(2, 3 if narrow else 6)
    stubs = 2 if style.blocks == "spans" else 1
    width = stubs + count
    makers = [_value_maker(random)] * count if style.tight or narrow else [_value_maker(random) for _ in range(count)]
    if style.contents not in ("values", "numbers"):
        count = random.randint(2, 3)
        makers = [_text_maker(random, style)] * count
        if random.random() < 0.5:
            makers[-1] = _value_maker(random)
        width = stubs + count
    header: list[tuple[_Cell, ...]] = []
    names = [_Cell(text="System"), *([_Cell(text="Variant")] if stubs > 1 else [])]
    titles = [_Cell(text=text) for text in random.sample(_TITLES, count)]
    groups: tuple[tuple[int, int], ...] = ()
    if style.header == "plain":
        header.append((*names, *titles))
    else:
        groups = tuple((stubs + size * pair, stubs + size * (pair + 1) - 1) for pair in range(pairs))
        above = [_Cell(text=text, columns=size) for text in random.sample(_GROUPS, pairs)]
        header += [(*(_Cell(text="") for _ in names), *above), (*names, *titles)]
    body: list[tuple[_Cell, ...]] = []
    sections: list[int] = []
    blocks: list[int] = []
    rows = random.randint(*style.rows)
    block = 0
    for row in range(rows):
        if style.blocks == "sections" and row % 3 == 0:
            sections.append(len(header) + len(body))
            body.append((_Cell(text=_sentence(random, 2, 4)[:-1], columns=width),))
        cells = [_Cell(text=make()) for make in makers]
        first: list[_Cell] = [_Cell(text=_row_name(random, style))]
        if style.blocks == "spans":
            first = [_Cell(text=random.choice(_WORDS))]
            if block == 0:
                blocks.append(len(header) + len(body))
                block = min(random.randint(2, 4), rows - row)
                first.insert(0, _Cell(text=random.choice(_NAMES), rows=block))
            block -= 1
        body.append((*first, *cells))
    side = random.choice(("center", "right", "left"))
    return _Table(
        rows=(*header, *body),
        width=width,
        header=len(header),
        sections=tuple(sections),
        blocks=tuple(blocks),
        groups=groups,
        align=(*["left"] * stubs, *[side] * count),
    )


def _texts(random: Random, style: Style) -> _Table:
    """Return a table of texts that wrap."""
    narrow = style.pages != "one column"
    count = random.randint(2, 3 if narrow else 4)
    kinds = [random.choice(("short", "long", "long")) for _ in range(count)]
    kinds[0] = "stub" if style.long_stubs else random.choice(("name", "name", "stub"))
    if style.numbered:
        kinds[random.randrange(1, count)] = "value"
    if style.coded:
        kinds[0] = "code"
    if "long" not in kinds:
        kinds[-1] = "long"
    share = {"code": 1.2, "stub": 1.2, "name": 0.9, "short": 1.2, "long": 2.5, "value": 1.0}
    total = 225.0 if narrow else random.choice((330.0, 400.0, 430.0))
    parts = [share[kind] * random.uniform(0.8, 1.25) for kind in kinds]
    widths = tuple(round(total * part / sum(parts), 1) for part in parts)
    value = _value_maker(random)
    capitals = random.choices((1.0, 0.8, 0.0), weights=(6, 3, 1), k=count)
    lengths = {"stub": (2, 6), "short": (1, 6), "long": (4, 24)}

    def made(column: int) -> str:
        kind, width = kinds[column], widths[column]
        if style.listed and kind == "long" and random.random() < 0.5:
            return _list_text(random)
        if kind in lengths:
            return _cell_text(random, *lengths[kind], width=width, capitals=capitals[column])
        if kind == "code":
            return _code(random, arguments=False)
        return value() if kind == "value" else random.choice(_NAMES)

    titles = tuple(_Cell(text=text) for text in random.sample(_TEXT_TITLES, count))
    empty = random.choice((0.0, 0.0, 0.1))
    rows = random.randint(*style.rows)
    body = [
        tuple(
            _Cell(text="" if 0 < column < count - 1 and random.random() < empty else made(column))
            for column in range(count)
        )
        for _ in range(rows)
    ]
    return _Table(rows=(titles, *body), width=count, header=1, widths=widths, align=("left",) * count)


def _source_of(table: _Table, random: Random, style: Style, *, leading: float, size: float) -> str:
    """Return the table in typst."""
    inset = (leading + random.uniform(*style.gap)) / 2
    across = random.uniform(2, 3.5) if style.tight else random.uniform(3.5, 7)
    widths = ", ".join(f"{width}pt" for width in table.widths) or ", ".join(["auto"] * table.width)
    align = ", ".join(f"{side} + {'horizon' if style.middle else 'top'}" for side in table.align)
    bold = random.random() < 0.5
    apart = random.choice((0.0, 0.3, 0.6))
    gutters = ", ".join(f"{apart if row + 1 in table.blocks else 0}em" for row in range(len(table.rows) - 1))
    stroke = {"grid": "0.5pt", "rows": "(x, y) => (bottom: 0.5pt, top: 0.5pt)"}.get(style.rules, "none")
    lines: list[str] = []
    ruled = style.rules == "booktabs"
    for index, row in enumerate(table.rows):
        if ruled and index in (0, table.header):
            lines.append("table.hline(stroke: 0.6pt),")
        if style.header == "ruled groups" and index == 1:
            lines += [f"table.hline(start: {first}, end: {last + 1}, stroke: 0.4pt)," for first, last in table.groups]
        for cell in row:
            centre = ", align: center" if cell.columns > 1 and index < table.header else ""
            text = " + linebreak() + ".join(json.dumps(line, ensure_ascii=False) for line in cell.text.split("\n"))
            shown = f"strong({text})" if bold and index < table.header else text
            if index in table.sections:
                shown = f"emph({text})"
            lines.append(f"table.cell(rowspan: {cell.rows}, colspan: {cell.columns}{centre}, {shown}),")
        if index == table.header - 1 and style.continued:
            lines = ["table.header(", *lines, "),"]
    if ruled:
        lines.append("table.hline(stroke: 0.6pt),")
    fill = ", fill: (x, y) => if y == 0 { luma(210) } else if calc.even(y) { luma(240) }" if style.shaded else ""
    return (
        f"[#set text(size: {size}pt)\n#set par(leading: {leading}em, justify: {str(style.hyphenate).lower()})\n"
        f"#table(columns: ({widths},), align: ({align},), stroke: {stroke}, "
        f"inset: (x: {across:.1f}pt, y: {inset:.3f}em), row-gutter: ({gutters},){fill},\n" + "\n".join(lines) + ")]"
    )


def _paper(random: Random, style: Style) -> tuple[str, tuple[GoldTable, ...]]:
    """Return the source of a paper in typst, and its tables."""
    columns = 2 if style.pages == "two columns" else 1
    fonts = _FONTS[:2] if style.wrapped or style.pages != "one column" else _FONTS
    size = random.choice((9.5, 10, 11))
    top = random.random() < 0.7
    head = (
        f'#set document(date: none)\n#set page(paper: "a4", margin: 2.2cm, columns: {columns}, numbering: "1")\n'
        f"#set text(font: {json.dumps(random.choice(fonts))}, size: {size}pt)\n"
        f"#set par(justify: {random.choice(('true', 'false'))})\n"
        f"#set figure.caption(position: {'top' if top else 'bottom'})\n"
        f"#show figure: set block(breakable: {str(style.continued).lower()})\n"
    )
    parts = [head]
    golds = []
    for number in range(1, (1 if style.continued else _TABLES_PER_PAPER) + 1):
        table = _texts(random, style) if style.wrapped else _values(random, style)
        caption = _sentence(random, 4, 14)
        golds.append(
            table.gold(number=str(number) if style.captioned else "", caption=caption if style.captioned else None)
        )
        leading = random.choice(style.leading)
        small = random.choice((0.8, 0.9)) * size if columns == 2 else random.choice((0.85, 1.0)) * size
        source = _source_of(table, random, style, leading=leading, size=round(small, 1))
        named = f"#figure(kind: table, supplement: [Table], caption: [{caption}], {source})"
        figure = named if style.captioned else f"#align(center)[{source[1:-1]}]"
        prose = [" ".join(_sentence(random) for _ in range(random.randint(3, 6))) for _ in range(3)]
        if style.pages == "beside":
            beside = " ".join(_sentence(random) for _ in range(16))
            sides = [f"[#set par(justify: true)\n{beside}]", f"[{figure}]"]
            random.shuffle(sides)
            widths = ("1fr", "230pt") if sides[1].startswith("[#figure") else ("230pt", "1fr")
            figure = f"#grid(columns: ({', '.join(widths)}), gutter: {random.uniform(8, 16):.0f}pt, {', '.join(sides)})"
        parts += [prose[0], prose[1], figure, prose[2]]
    return "\n\n".join(parts), tuple(golds)


def typeset_paper(style: str, seed: int, file: Path) -> Gold:
    """Write the paper of a style and a seed as a PDF, and return its gold. Raises ImportError without typst."""
    import typst

    source, tables = _paper(Random(f"{style}/{seed}"), STYLES[style])  # noqa: S311
    file.write_bytes(typst.compile(source.encode(), ignore_system_fonts=True))
    return Gold(tables=tables, all_tables=True)


def generated_items(folder: Path) -> Iterator[GoldItem | GoldFileError]:
    """Typeset all papers in a folder and yield their items, or one error if typst is not installed."""
    folder.mkdir(parents=True, exist_ok=True)
    for style in STYLES:
        for seed in _SEEDS:
            file = folder / f"{style}-{seed}.pdf"
            try:
                gold = typeset_paper(style, seed, file)
            except ImportError:
                yield GoldFileError(f"{GENERATED_SET} needs typst; run: pip install typst")
                return
            yield GoldItem(name=f"{GENERATED_SET}/{style}/{seed}", file=file, gold=gold)
