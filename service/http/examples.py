"""Examples for the OpenAPI document: a question to the paper in `examples/`, answered without a model."""

import json

__all__ = ["ANSWER", "CONTEXT", "CONTEXT_CSV", "EVENTS", "QUESTION"]

QUESTION = {
    "question": "How are the averaged weights updated when a further model is added in SWA?",
    "sections": ["3.4"],
    "kinds": ["equation"],
}

CONTEXT = {
    "entities": [
        {
            "id": 0,
            "entity": "Stochastic Weight Averaging",
            "type": "concept",
            "description": "It averages weights along the training path by Stochastic Weight Averaging "
            "(SWA) (Izmailov et al., 2018) and then combines the base and the large model "
            "of one seed into an ensemble.",
            "rank": 2,
            "places": [
                {"paper": "b1810c2e3f4a", "page": 3, "box": [121.4, 201.7, 287.0, 225.3]},
                {"paper": "b1810c2e3f4a", "page": 3, "box": [49.6, 162.2, 287.0, 196.9]},
            ],
        },
        {
            "id": 1,
            "entity": "Equation 8",
            "type": "equation",
            "description": "Equation 8: w_SWA ← (nw_SWA + w)/(n + 1).\n"
            "Averaging by Eq. (8) costs one extra copy of the weights and no extra pass at "
            "test time.\n"
            "SWA keeps a running mean of the weights.\n"
            "After 𝑛 models have been averaged, the next weights 𝑤 enter as",
            "rank": 1,
            "places": [{"paper": "b1810c2e3f4a", "page": 3, "box": [121.4, 201.7, 287.0, 225.3]}],
        },
    ],
    "relations": [
        {
            "id": 0,
            "source": "Equation 8",
            "target": "Stochastic Weight Averaging",
            "description": "SWA keeps a running mean of the weights.",
            "weight": 1.0,
            "rank": 3,
            "places": [{"paper": "b1810c2e3f4a", "page": 3, "box": [49.6, 162.2, 287.0, 196.9]}],
        }
    ],
    "sources": [
        {
            "id": 0,
            "content": "After 𝑛 models have been averaged, the next weights 𝑤 enter as\n"
            "Equation 8: w_SWA ← (nw_SWA + w)/(n + 1).",
            "element": "b1810c2e3f4a/equation-8",
            "place": {"paper": "b1810c2e3f4a", "page": 3, "box": [121.4, 201.7, 287.0, 225.3]},
        },
        {
            "id": 1,
            "content": "LoRA leaves the weight matrix 𝑊₀ frozen and learns two thin matrices 𝐴 and 𝐵 of "
            "rank 𝑟:\n"
            "Equation 7: W = W₀ + α/r BA.\n"
            "With the values of Table 2 the scale 𝛼/𝑟 of Report A is 2.",
            "element": "b1810c2e3f4a/equation-7",
            "place": {"paper": "b1810c2e3f4a", "page": 3, "box": [130.4, 132.6, 287.0, 156.3]},
        },
    ],
    "images": [],
}

CONTEXT_CSV = """\
-----Entities-----
```csv
id,entity,type,description,rank,place
0,"Stochastic Weight Averaging","concept","It averages weights along the training path by Stochastic Weight \
Averaging (SWA) (Izmailov et al., 2018) and then combines the base and the large model of one seed into an \
ensemble.",2,"b1810c2e3f4a p.3 [121.4 201.7 287.0 225.3]; b1810c2e3f4a p.3 [49.6 162.2 287.0 196.9]"
1,"Equation 8","equation","Equation 8: w_SWA ← (nw_SWA + w)/(n + 1).
Averaging by Eq. (8) costs one extra copy of the weights and no extra pass at test time.
SWA keeps a running mean of the weights.
After 𝑛 models have been averaged, the next weights 𝑤 enter as",1,"b1810c2e3f4a p.3 [121.4 201.7 287.0 225.3]"
```
-----Relationships-----
```csv
id,source,target,description,weight,rank,place
0,"Equation 8","Stochastic Weight Averaging","SWA keeps a running mean of the weights.",1.0,3,"b1810c2e3f4a p.3 \
[49.6 162.2 287.0 196.9]"
```
-----Sources-----
```csv
id,content,element,place
0,"After 𝑛 models have been averaged, the next weights 𝑤 enter as
Equation 8: w_SWA ← (nw_SWA + w)/(n + 1).","b1810c2e3f4a/equation-8","b1810c2e3f4a p.3 [121.4 201.7 287.0 \
225.3]"
1,"LoRA leaves the weight matrix 𝑊₀ frozen and learns two thin matrices 𝐴 and 𝐵 of rank 𝑟:
Equation 7: W = W₀ + α/r BA.
With the values of Table 2 the scale 𝛼/𝑟 of Report A is 2.","b1810c2e3f4a/equation-7","b1810c2e3f4a p.3 [130.4 \
132.6 287.0 156.3]"
```
-----Images-----
```csv
id,element,label,caption,crop,place
```
"""

ANSWER = {
    "question": "How are the averaged weights updated when a further model is added in SWA?",
    "status": "answered",
    "text": "“After 𝑛 models have been averaged, the next weights 𝑤 enter as w_SWA ← (nw_SWA + w)/(n + 1).” "
    "(Equation 8, page 3)",
    "claims": [
        {
            "text": "“After 𝑛 models have been averaged, the next weights 𝑤 enter as w_SWA ← (nw_SWA + "
            "w)/(n + 1).” (Equation 8, page 3)",
            "evidence": [
                {
                    "element": "b1810c2e3f4a/passage-39",
                    "place": {"paper": "b1810c2e3f4a", "page": 3, "box": [49.6, 162.2, 287.0, 196.9]},
                    "quote": "After 𝑛 models have been averaged, the next weights 𝑤 enter as",
                },
                {
                    "element": "b1810c2e3f4a/equation-8",
                    "place": {"paper": "b1810c2e3f4a", "page": 3, "box": [121.4, 201.7, 287.0, 225.3]},
                    "quote": "w_SWA ← (nw_SWA + w)/(n + 1).",
                },
            ],
        }
    ],
    "context": CONTEXT,
    "readings": [],
    "exhibits": [
        {
            "element": "b1810c2e3f4a/equation-8",
            "kind": "equation",
            "place": {"paper": "b1810c2e3f4a", "page": 3, "box": [121.4, 201.7, 287.0, 225.3]},
            "label": "Equation 8",
            "caption": "w_SWA ← (nw_SWA + w)/(n + 1).",
            "latex": "",
            "crops": ["00e0558a892776cec322eb42f170fc14eb97fa2e8e00bb76e80765402a061aab"],
            "cells": [],
        }
    ],
    "initial": "“After 𝑛 models have been averaged, the next weights 𝑤 enter as w_SWA ← (nw_SWA + w)/(n + 1).” "
    "(Equation 8, page 3)",
    "merged": "",
    "model": "",
    "usage": {"calls": 0, "cached": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": 0.0},
    "seconds": 0.068,
    "stages": [
        {"stage": "retrieving", "seconds": 0.041},
        {"stage": "answering", "seconds": 0.026},
        {"stage": "verifying", "seconds": 0.001},
    ],
    "checks": [
        {
            "number": "1",
            "finding": "printed",
            "formula": "",
            "support": [
                {
                    "element": "b1810c2e3f4a/equation-8",
                    "place": {"paper": "b1810c2e3f4a", "page": 3, "box": [121.4, 201.7, 287.0, 225.3]},
                    "quote": "w_SWA ← (nw_SWA + w)/(n + 1).",
                }
            ],
        }
    ],
    "warnings": ["no language model was used: the answer was drawn from the papers' own words and numbers"],
    "confidence": 0.9331,
    "asked_as": "",
}


def _event(kind: str, data: object) -> str:
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


EVENTS = "".join(
    (
        *(_event("stage", {"stage": stage, "kind": "stage"}) for stage in ("retrieving", "answering", "verifying")),
        _event("text", {"text": ANSWER["text"], "anew": False, "kind": "text"}),
        _event("citations", {"claims": ANSWER["claims"], "kind": "citations"}),
        _event("done", ANSWER),
    )
)
