"""What the OpenAPI document shows as examples: replies about the example paper, some of their lists cut short."""

from collections.abc import Mapping

__all__ = ["ELEMENT", "ELEMENTS", "ENTITIES", "NEIGHBOURHOOD", "PAPER", "PAPERS", "TABLE", "TABLES"]

Example = Mapping[str, object]

_HEAD: Example = {
    "id": "b1810c2e3f4a",
    "title": "Four Reports, Four Rulers: Re-reading Published Named Entity Recognition Results",
    "authors": ["The Paperscope authors"],
    "file": "ner-report.pdf",
    "sha256": "b1810c2e3f4aca39b57715a747843c31bfd568ce7a61390b11fd953f5b62a42f",
    "revision": 1,
    "counts": {"equation": 10, "figure": 3, "passage": 96, "reference": 18, "table": 9},
}

PAPERS: Example = {"papers": [_HEAD], "total": 1, "limit": 50, "offset": 0}

PAPER: Example = {
    "head": _HEAD,
    "format": "pdf",
    "pages": [{"number": 1, "width": 595.3, "height": 841.9}],
    "sections": [
        {"id": "b1810c2e3f4a/section-1", "number": "", "title": "Abstract", "level": 1, "path": "Abstract"},
        {"id": "b1810c2e3f4a/section-2", "number": "1", "title": "Introduction", "level": 1, "path": "1 Introduction"},
    ],
    "problems": [],
    "images": {"reader": "", "readings": []},
    "shortfall": {"unread": [], "dropped_entities": 0, "dropped_relations": 0, "unjudged": [], "unsummarised": []},
}

ELEMENTS: Example = {
    "elements": [
        {
            "id": "b1810c2e3f4a/equation-1",
            "place": {"paper": "b1810c2e3f4a", "page": 2, "box": [64.5, 412.0, 287.0, 435.6]},
            "order": 28,
            "text": "P = TP/(TP + FP), R = TP/(TP + FN), F₁ = 2PR/(P + R).",
            "label": "Equation 1",
            "section": "b1810c2e3f4a/section-10",
            "crop": "7adeb278521b7838c5e53a19e651e7af6dcc00207980b68c25eb3a1abae715a5",
            "kind": "equation",
        }
    ],
    "total": 10,
    "limit": 1,
    "offset": 0,
}

ELEMENT: Example = {
    "id": "b1810c2e3f4a/equation-2",
    "place": {"paper": "b1810c2e3f4a", "page": 2, "box": [382.7, 228.4, 545.7, 257.9]},
    "order": 31,
    "text": "F₁^macro = 1/K ∑_{k=1}^K F_{1,k},",
    "label": "Equation 2",
    "section": "b1810c2e3f4a/section-10",
    "crop": "d92d82a13f81bf2b46840082b0530bffae18b96dfce014ae88e9c130e1a0d05d",
    "kind": "equation",
}

TABLES: Example = {
    "tables": [
        {
            "id": "b1810c2e3f4a/table-1",
            "label": "Table 1",
            "caption": "The four reports. Headline figures are quoted in each report’s own notation.",
            "place": {"paper": "b1810c2e3f4a", "page": 2, "box": [49.2, 68.9, 546.1, 215.1]},
            "section": "b1810c2e3f4a/section-7",
            "rows": 5,
            "columns": 5,
            "header_rows": 1,
            "confidence": 0.95,
            "crop": "eb7da34078b94ef98ede96ad254d6966a1200f3e3691c1f48cc5514ddedf9697",
        }
    ]
}

TABLE: Example = {
    "id": "b1810c2e3f4a/table-1",
    "place": {"paper": "b1810c2e3f4a", "page": 2, "box": [49.2, 68.9, 546.1, 215.1]},
    "order": 22,
    "cells": [
        {
            "row": 0,
            "column": 0,
            "text": "Report",
            "place": {"paper": "b1810c2e3f4a", "page": 2, "box": [52.8, 71.5, 83.4, 80.1]},
            "row_span": 1,
            "column_span": 1,
            "role": "column_header",
            "bold": True,
            "annotation": "",
        }
    ],
    "label": "Table 1",
    "caption": "The four reports. Headline figures are quoted in each report’s own notation.",
    "caption_place": {"paper": "b1810c2e3f4a", "page": 2, "box": [49.6, 56.1, 383.9, 65.1]},
    "header_rows": 1,
    "section": "b1810c2e3f4a/section-7",
    "crop": "eb7da34078b94ef98ede96ad254d6966a1200f3e3691c1f48cc5514ddedf9697",
    "confidence": 0.95,
    "more_places": [],
    "more_crops": [],
    "kind": "table",
}

_CENTER: Example = {
    "id": "character f1",
    "name": "Character F1",
    "type": "metric",
    "description": (
        "According to our notes on its scorer, entity F1 is a macro average over types, and "
        "character F1 is a macro average over tags, the tag O among them, taken on word pieces "
        "and not on characters."
    ),
    "sources": [
        "b1810c2e3f4a/passage-49",
        "b1810c2e3f4a/passage-69",
        "b1810c2e3f4a/table-5",
        "b1810c2e3f4a/table-6",
    ],
    "aliases": [],
    "mentions": [],
}

NEIGHBOURHOOD: Example = {
    "center": _CENTER,
    "entities": [
        _CENTER,
        {
            "id": "b1810c2e3f4a/table-6",
            "name": "Table 6",
            "type": "table",
            "description": (
                "Table 6: Report B over eight seeds: mean with population deviation 𝜎 and with sample "
                "deviation 𝑠. Derived from Table 5, but for the 𝜎 of the ensemble, which the report "
                "prints.\nTable 6 gives means with both deviations.\nThe gap of about 4.5 points "
                "between the two in Table 6 is then a matter of units, and 89.51 must not be set "
                "beside the micro average 93.73 of Report A."
            ),
            "sources": ["b1810c2e3f4a/passage-51", "b1810c2e3f4a/passage-69", "b1810c2e3f4a/table-6"],
            "aliases": [],
            "mentions": [],
        },
    ],
    "relations": [
        {
            "source": "character f1",
            "target": "b1810c2e3f4a/table-6",
            "kind": "result",
            "description": (
                "Character F1 (%) RoBERTa-large, Mean ± 𝑠: 93.79 ± 0.15 (Table 6) Character F1 (%) "
                "RoBERTa-large, Mean ± 𝜎: 93.79 ± 0.14 (Table 6)"
            ),
            "sources": ["b1810c2e3f4a/table-6"],
            "weight": 2.0,
        }
    ],
    "places": {
        "b1810c2e3f4a/passage-49": {"paper": "b1810c2e3f4a", "page": 3, "box": [308.3, 554.9, 545.7, 638.9]},
        "b1810c2e3f4a/passage-69": {"paper": "b1810c2e3f4a", "page": 5, "box": [308.3, 671.4, 545.7, 730.7]},
        "b1810c2e3f4a/table-5": {"paper": "b1810c2e3f4a", "page": 4, "box": [49.2, 80.0, 546.1, 197.6]},
        "b1810c2e3f4a/table-6": {"paper": "b1810c2e3f4a", "page": 4, "box": [307.8, 245.7, 546.1, 345.0]},
    },
    "files": {"b1810c2e3f4a": "ner-report.pdf"},
}

ENTITIES: Example = {
    "entities": [
        {"name": "F1", "relations": 29},
        {"name": "Table 7", "relations": 26},
        {"name": "Table 2", "relations": 24},
    ]
}
