"""An element with its place: text as text, a table as a grid, a float with its picture where somebody holds it."""

from html import escape
from typing import assert_never

from paperscope.types.display.parts import Holder, aside, details, files_of, fragment, pictures
from paperscope.types.elements import Element, Equation, Figure, Passage, Reference, crops_of
from paperscope.types.images import ImageDescription
from paperscope.types.tables import Table

__all__ = ["element_html", "element_text", "title_of"]


def element_html(element: Element, holder: Holder) -> str:
    """The element as a block. What a vision model saw in its picture is said to be a model's words."""
    title = element.label or "Equation" if isinstance(element, Equation) else title_of(element)
    name = _name(element, holder)
    head = f"<figcaption>{escape(title)}</figcaption>"
    crops = pictures(crops_of(element), title_of(element), holder)
    match element:
        case Passage() | Reference():
            return fragment(f'<p class="text">{escape(element.text)}</p>', aside(name))
        case Table():
            body = f'<div class="wide">{element.to_html()}</div>' if element.cells else ""
            shown = body + details("As printed", crops) if body else crops
        case Figure():
            shown = crops + details("Text in the figure", _block(element.text))
        case Equation():
            shown = crops + details("Text", _block(element.text)) if crops else _block(element.text)
        case _:
            assert_never(element)
    return fragment(f"<figure>{head}{shown}{_seen(element, holder)}</figure>", aside(name))


def element_text(element: Element) -> str:
    """What it is and where it stands, on one line."""
    words = element.text if isinstance(element, Passage | Reference) else title_of(element)
    return f"{words} ({element.place.where})"


def title_of(element: Element) -> str:
    """Label and caption; of an equation its text, of text its label."""
    words = element.text if isinstance(element, Equation) else getattr(element, "caption", "")
    return ": ".join(part for part in (element.label or element.kind.capitalize(), words) if part)


def _name(element: Element, holder: Holder) -> str:
    place = element.place
    size = f", {element.shape[0]} × {element.shape[1]} cells" if isinstance(element, Table) else ""
    return f"{place.where} of {files_of(holder).get(place.paper, place.paper)}, id {element.id}{size}"


def _block(text: str) -> str:
    return f'<p class="text">{escape(text)}</p>' if text else ""


def _seen(element: Element, holder: Holder) -> str:
    found = (one for one in holder.images(element.place.paper).descriptions if one.element == element.id)
    return "".join(map(_description, found))


def _description(seen: ImageDescription) -> str:
    latex = f"<p><code>{escape(seen.latex)}</code></p>" if seen.latex else ""
    return details("What a vision model saw", _block(seen.text) + latex)
