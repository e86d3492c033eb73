"""How the page of a paper looks: one column, light or dark as the reader's system is, nothing wider than the screen."""

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light dark; }
:root { --text: #1c1d21; --back: #fdfdfc; --faint: #5d616b; --line: #d9dbe0; --link: #1a56b0; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e5e9; --back: #17181b; --faint: #a2a6b1; --line: #3b3e46; --link: #8ab4f8; }
}
* { box-sizing: border-box; }
body { margin: 0; color: var(--text); background: var(--back); font: 17px/1.6 Georgia, "Times New Roman", serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1.25rem 6rem; overflow-wrap: break-word; }
h1, h2, h3, h4, h5, h6, nav, figcaption, table, summary, .authors, .problems { font-family: system-ui, sans-serif; }
h1 { font-size: 1.8rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1.12rem; margin: 2rem 0 .5rem; }
h4, h5, h6 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
:target { outline: 2px solid var(--link); outline-offset: 4px; border-radius: 2px; }
.authors, .footnote, nav, figcaption, summary { color: var(--faint); font-size: .88rem; line-height: 1.5; }
.authors { white-space: pre-line; }
.footnote { border-left: 3px solid var(--line); padding-left: .75rem; }
.problems { border: 1px solid #c98a1b; border-radius: 6px; padding: .5rem 1rem; font-size: .88rem; }
nav ul, ul.items { list-style: none; padding: 0; }
nav .deep { padding-left: 1.5rem; }
ul.items li { margin: .4rem 0; padding-left: 1.5rem; }
ul.references li { font-size: .88rem; line-height: 1.5; padding-left: 2rem; text-indent: -2rem; }
figure { margin: 2rem 0; }
figcaption { margin: .5rem 0; }
figcaption b { color: var(--text); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; line-height: 1.4; font-variant-numeric: tabular-nums; }
caption:empty { display: none; }
td, th { border: 1px solid var(--line); padding: .25rem .6rem; text-align: start; vertical-align: top; }
th { font-weight: 600; }
img { max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
.equation { text-align: center; }
pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: 6px; }
pre { font: .82rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
summary { cursor: pointer; }
"""
