"""Valid papers, question files, replies of models and HTTP messages, which fuzzing changes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from tests.ingest.captioning.illustrated_papers import png
from tests.ingest.readers.test_epub import book
from tests.ingest.readers.test_markup import FILES
from tests.ingest.readers.test_odt import document
from tests.ingest.readers.test_pptx import presentation
from tests.ingest.readers.test_xlsx import workbook
from tests.service.jobs.hostile_files import injection_files, pdf_page

__all__ = ["KEY", "QUESTIONS", "REPLIES", "RESPONSES", "Sample", "lightrag_samples", "paper_samples", "request_samples"]

Sample = tuple[str, bytes]
"""A file's name and content."""

_ROOT = Path(__file__).resolve().parent.parent.parent
_SMALL_PDFS = 20
_TEXTS = 8
KEY = "sk-fuzz/0123456789+abcdef"
"""The key with which a model server is called."""


def paper_samples() -> Iterator[Sample]:
    """Papers of all formats; some are there several times, because they are read quickly or have much to change."""
    yield from [("small.pdf", _small_pdf())] * _SMALL_PDFS
    yield from _example_pages()
    yield ("words.pdf", pdf_page(b"BT (a) Tj ET"))
    hostile = _ROOT.parent / "shared" / "eval" / "hostile"
    yield from ((file.name, file.read_bytes()) for file in sorted(hostile.glob("*.pdf")))
    yield from [*FILES.items(), ("latex.md", _LATEX), ("owl.tex", _TEX), ("paper_middle.json", _mineru())] * _TEXTS
    yield from (("owl.odt", document()), ("owl.epub", book()), ("owl.pptx", presentation()), ("owl.xlsx", _workbook()))
    yield ("picture.png", png("Owl"))
    yield from injection_files("http://127.0.0.1:1", Path("/secret")).items()


def _workbook() -> bytes:
    out = BytesIO()
    workbook().save(out)
    return out.getvalue()


def _small_pdf() -> bytes:
    """A page with a heading, a text, a ruled table with a caption, a figure and references."""
    import pymupdf

    with pymupdf.open() as document:
        page = document.new_page(width=400, height=400)
        page.insert_text((40, 40), "1 Owl Nets", fontsize=14)
        page.insert_text((40, 60), ["As Table 1 and Figure 1 show, owls reach 91.5 [1].", "E = mc2 (1)"], fontsize=9)
        page.insert_text((40, 100), "Table 1: Accuracy.", fontsize=9)
        for row, cells in enumerate((("Model", "F1"), ("Base", "84.2"), ("Owl", "91.5"))):
            page.draw_line((40, 106 + 14 * row), (200, 106 + 14 * row))
            for column, text in enumerate(cells):
                page.insert_text((44 + 80 * column, 116 + 14 * row), text, fontsize=9)
        page.draw_line((40, 148), (200, 148))
        page.draw_rect((40, 170, 120, 230), fill=(0, 0, 1))
        page.insert_image((130, 170, 200, 230), stream=png("Owl"))
        page.insert_text((40, 245), "Figure 1: Owls.", fontsize=9)
        page.insert_text((40, 270), ["References", "[1] A. Li. Owls at night. 2019."], fontsize=9)
        document.set_metadata({"title": "Owl Nets", "author": "Ada Lovelace"})
        document.set_toc([[1, "1 Owl Nets", 1]])
        data: bytes = document.tobytes(garbage=4, no_new_id=True)
        return data


def _example_pages() -> Iterator[Sample]:
    """The pages of the example papers, each as a file."""
    import pymupdf

    for file in sorted((_ROOT / "examples" / "paper").glob("*.pdf")):
        with pymupdf.open(file) as document:
            for number in range(len(document)):
                with pymupdf.open() as page:
                    page.insert_pdf(document, from_page=number, to_page=number)
                    yield f"{file.stem}-{number + 1}.pdf", page.tobytes(garbage=4, no_new_id=True)


def _mineru() -> bytes:
    """MinerU's JSON of a page."""
    box = [60, 40, 290, 60]

    def lines(**span: str) -> list[Any]:
        return [{"bbox": box, "spans": [{"bbox": box, **span}]}]

    def block(kind: str, span: str = "text", **more: str) -> dict[str, Any]:
        return {"type": kind, "bbox": box, "lines": lines(type=span, **more)}

    html = "<table><tr><td>a</td><td>1</td></tr></table>"
    blocks = [
        block("title", content="Owl Nets"),
        block("text", content="As Table 1 shows [1]."),
        {"type": "table", "bbox": box, "blocks": [block("table_body", "table", html=html, image_path="a.png")]},
        {"type": "image", "bbox": box, "blocks": [block("image_body", "image", image_path="a.png")]},
        block("interline_equation", "interline_equation", content="E=m \\tag{1}"),
    ]
    page = {"page_idx": 0, "page_size": [600, 800], "preproc_blocks": blocks, "para_blocks": blocks}
    return json.dumps({"pdf_info": [{**page, "discarded_blocks": []}], "_version_name": "2.7.6"}).encode()


QUESTIONS: Sequence[Sample] = (
    (
        "questions.jsonl",
        b'{"question": "What is the F1 of the tagger?", "answer": "0.83", "type": "text", "evidence": "Table 1"}\n'
        b'{"id": 2, "question": "Which tagger?", "answer": 0.83, "answer_format": "Float", "answerable": true, '
        b'"filters": {"papers": ["tagger.pdf"], "sections": ["1"], "kinds": ["table"], "years": "2018-2020"}}\n',
    ),
    (
        "questions.csv",
        b'question,answer,papers,kinds,years\r\n"What is the F1, and of what?",0.83,tagger.pdf,table;text,2018\r\n'
        b'"A ""quoted"" word",,,,\r\n',
    ),
    ("questions.tsv", b"question\tanswer\nWhat is the F1?\t0.83\n"),
    ("questions.txt", b"1. What is the F1 of the tagger?\n2. What is 0.83?\n"),
    ("questions.md", b"# Questions\n\n- What is the **F1**?\n- Is it 0.83?\n"),
)
_CLAIMS = [{"text": "The F1 is 0.83.", "evidence": ["S0", "S1", "E0", "I0"]}]
_ENTITIES = [
    {"chunk": "C1", "mention": "tagger", "type": "method", "description": "A tagger."},
    {"chunk": "C1", "mention": "F1", "type": "metric", "description": ""},
]
_RELATION = {"chunk": "C1", "source": "tagger", "target": "F1", "kind": "measured by", "evidence": "an F1 of 0.83"}
REPLIES: Mapping[str, Mapping[str, Any]] = {
    "answer": {"status": "answered", "answer": "The F1 is 0.83.", "claims": _CLAIMS},
    "merged_answer": {"status": "answered", "answer": "0.83", "claims": _CLAIMS},
    "image_findings": {
        "pictures": [{"picture": 1, "finding": "The cell reads 0.83.", "relevant": True, "agrees": False}],
    },
    "image_description": {
        "kind": "table",
        "description": "A table of the scores that the taggers reach.",
        "visible_text": ["Model F1", "tagger 0.83"],
        "entities": [{"name": "Dice loss", "type": "method", "description": "A loss."}],
        "data_points": [{"series": "F1", "x": "1", "y": "0.83", "estimated": True}],
        "latex": "x^2",
    },
    "entities": {"entities": _ENTITIES, "relations": [_RELATION]},
    "same_names": {"pairs": [{"pair": "P1", "reason": "It says so.", "same": True}]},
    "summaries": {"terms": [{"term": "T1", "summary": "A tagger tags."}]},
}
"""The replies of a model by the names of their schemas."""


def _response(body: str, *, kind: str = "application/json", status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nRetry-After: 1\r\nContent-Length: {len(body.encode())}\r\n"
    return f"{head}Connection: close\r\n\r\n{body}".encode()


def _responses() -> Iterator[Sample]:
    usage = {"prompt_tokens": 1, "completion_tokens": 2}
    message = {"role": "assistant", "content": '{"relevant": true}'}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    chunks = [{"choices": [{"delta": {"content": "a"}}]}, {"choices": [{"delta": {}, "finish_reason": "stop"}]}]
    stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in [*chunks, {"usage": usage}])
    error = {"error": {"message": f"bad key {KEY}", "code": "x"}}
    yield "chat.http", _response(json.dumps({"choices": [choice], "usage": usage}))
    yield "chat-stream.http", _response(f"{stream}data: [DONE]\n\n", kind="text/event-stream")
    yield "chat-error.http", _response(json.dumps(error), status="400 Bad Request")
    yield "chat-busy.http", _response(json.dumps(error), status="429 Too Many Requests")
    yield "embeddings.http", _response(json.dumps({"data": [{"index": 0, "embedding": [0.6, 0.8]}]}))


RESPONSES: Sequence[Sample] = tuple(_responses())
"""Responses of a model server."""


def _request(line: str, body: object = None, *, kind: str = "application/json", **headers: str) -> bytes:
    text = body.encode() if isinstance(body, str) else b"" if body is None else json.dumps(body).encode()
    given = {"Host": "localhost", "Connection": "close", **headers}
    if text:
        given |= {"Content-Type": kind, "Content-Length": str(len(text))}
    lines = [f"{line} HTTP/1.1", *(f"{name.replace('_', '-')}: {value}" for name, value in given.items())]
    return "".join(f"{one}\r\n" for one in [*lines, ""]).encode() + text


def _form(name: str, text: str, **fields: str) -> str:
    parts = [f'--b\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{one}\r\n' for key, one in fields.items()]
    about = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: text/plain'
    return "".join([*parts, f"--b\r\n{about}\r\n\r\n{text}\r\n--b--\r\n"])


_LATEX = rb"""# Owl Nets

Table 1: Accuracy.

\begin{table}\begin{tabular}{l|cc} \toprule
Model & \multicolumn{2}{c}{F1} \\ \midrule
\multirow{2}{*}{Owl} & 91.5 & $84.2 \pm 0.1$ \\ & 1 & 2 \\ \bottomrule
\end{tabular}\caption{Scores.}\label{a}\end{table}

$$E = \frac{m}{c^2} \tag{1}$$
"""
_TEX = rb"""\documentclass{article}\newcommand{\ours}[1][Owl]{#1Net\xspace}\newif\ifdraft
\title{Owl Nets}\author{Ada Lovelace \and Mary Somerville}\begin{document}\maketitle
\section{Results}\label{s} \ours{} reaches 91.5\,\% \cite{li}, see Table~\ref{t}. \ifdraft Hidden. \else Shown. \fi
"""
_TEX += (
    _LATEX.partition(b"Accuracy.")[2].partition(b"$$")[0]
    + rb"""
\begin{align}E &= \frac{m}{c^2} \label{e}\\ x &= \sqrt[3]{y}\end{align}
\begin{thebibliography}{9}\bibitem{li} A. Li. Owls at night. 2019.\end{thebibliography}\end{document}
"""
)
_FORM = "multipart/form-data; boundary=b"
_PATHS = (
    *("/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/models", "/v1/models/paperscope", "/v1/papers"),
    *("PAPER", "PAPER/elements?kind=table&page=1&limit=5", "PAPER/elements/passage-1", "PAPER/file"),
    *(
        "/v1/gallery?query=x&kind=table&paper=%23a",
        "PAPER/tables/table-1.csv",
        "PAPER/tables/table-1.html",
        "PAPER/pages/1.png?dpi=72",
    ),
    *(f"PAPER/crops/{'0' * 64}.png", "/v1/graph/entities?query=owl&limit=3"),
    *("/v1/graph/neighbourhood?entity=owl&depth=1", "/v1/jobs?limit=3", "/v1/jobs/JOB?wait=0.1"),
    *("/v1/bibtex?paper=0123456789ab", "/v1/papers?query=owl&year=2018-2020&sort=title&limit=2"),
    *("/v1/graph/search?query=ow&type=method&limit=3", "/v1/settings", "/v1/usage", "/v1/session", "/v1/conversations"),
    *("/v1/tools/section?argument=1&paper=0123456789ab", "/v1/tools/page?argument=1&part=1"),
    *("/", "/web/index.html", "/web/vendor/manifest.json", f"/v1/conversations/conversation-{'0' * 24}"),
    *("/v1/jobs/JOB/events", "/v1/jobs/JOB/results/report.md", "/v1/jobs/JOB/results/images/a.png"),
)


_LIGHTRAG_PATHS = (
    *("/health", "/auth-status", "/openapi.json", "/webui/", "/api/version", "/api/tags", "/api/ps"),
    *("/graph/label/list", "/graph/label/search?q=ow&limit=3", "/graphs?label=Owl&max_depth=2&max_nodes=10"),
    *("/graph/entity/exists?name=Owl", "/documents/status_counts", "/documents/track_status/a"),
)


def lightrag_samples() -> Iterator[Sample]:
    """Valid requests to LightRAG's server: those that read, and some that it refuses."""
    said = [{"role": "user", "content": "/naive What is the score of Owl?"}]
    asked = {"query": "What is the score of Owl?", "mode": "naive", "top_k": 3, "only_need_context": True}
    made = [
        ("POST /query", asked),
        ("POST /query", {**asked, "mode": "mix", "only_need_context": False, "conversation_history": said}),
        ("POST /query/stream", asked),
        ("POST /query/data", {**asked, "hl_keywords": ["score"], "ll_keywords": ["Owl"], "mode": "local"}),
        ("POST /api/chat", {"model": "m", "stream": False, "messages": said}),
        ("POST /api/generate", {"model": "m", "stream": False, "prompt": "/naive Owl?"}),
        ("POST /documents/paginated", {"page": 1, "page_size": 10}),
        ("POST /documents/text", {"text": "An owl.", "file_source": "owl.txt"}),
        ("POST /graph/entity/edit", {"entity_name": "Owl", "updated_data": {"description": "x"}}),
        *((f"GET {path}", None) for path in _LIGHTRAG_PATHS),
    ]
    for number, (line, body) in enumerate(made):
        yield f"{number:02}.http", _request(line, body, X_API_Key=KEY)


def request_samples(paper: str, job: str) -> Iterator[Sample]:
    """A valid request of each route, given the ids of a paper and a job."""
    question = {"question": "What is the score of Owl?", "papers": [paper], "kinds": ["table"], "years": "2018-2020"}
    history = [{"question": "Which nets?", "answer": "Owl.", "papers": []}]
    user = {"role": "user", "content": [{"type": "text", "text": "What is the score of Owl?"}]}
    chat = {"model": "paperscope", "messages": [{"role": "system", "content": "x"}, user], "temperature": 0.5, "n": 1}
    span = f"00-{'a' * 32}-{'b' * 16}-01"
    made = [
        _request("POST /v1/query", {**question, "sections": ["1 Results"], "history": history}),
        _request("POST /v1/query", {"question": "What is the score of Owl?", "stream": True}),
        _request("POST /v1/retrieve", {**question, "format": "csv"}, Accept="text/csv"),
        _request("POST /v1/chat/completions", chat),
        _request(
            "POST /v1/chat/completions", {**chat, "stream": True, "tools": [], "response_format": {"type": "text"}}
        ),
        _request("POST /v1/embeddings", {"model": "paperscope", "input": ["owl", "x"], "encoding_format": "base64"}),
        _request("POST /v1/batch", {"questions": ["What is the score of Owl?", question]}),
        _request("POST /v1/batch", _form("q.csv", "question,answer\nWhich score?,1\n"), kind=_FORM),
        _request("POST /v1/papers", _form("a.md", "# A\n\nThe F1 is 0.5.\n", replaces="", password="x"), kind=_FORM),  # noqa: S106
        _request("POST /v1/papers", {"path": "/etc/passwd", "replaces": paper, "password": "x"}),
        _request("POST /v1/papers/estimate", _form("a.md", "# A\n\nThe F1 is 0.5.\n", password="x"), kind=_FORM),  # noqa: S106
        _request("POST /v1/session", {"key": "ps_0_x"}, Cookie="paperscope_session=x", Sec_Fetch_Site="same-origin"),
        _request("POST /v1/conversations", {"title": "Owls"}),
        _request("PATCH /v1/tags", {"papers": [paper, "#owls"], "add": ["to read"], "remove": ["x/y"]}),
        _request("POST /v1/notes", {"paper": paper, "text": "*x*", "places": [{"page": 1, "box": [0, 1, 2, 3]}]}),
        _request("POST /v1/query", {**question, "conversation": f"conversation-{'0' * 24}", "stream": True}),
        _request(f"PATCH /v1/conversations/conversation-{'0' * 24}", {"title": "Nets"}),
        _request(f"POST /v1/conversations/conversation-{'0' * 24}/cancel"),
        _request(f"POST /v1/jobs/{job}/cancel"),
        _request(f"HEAD /v1/papers/{paper}", Range="bytes=0-3", If_None_Match='"x"', X_Request_ID="abcdefgh12345678"),
        _request("OPTIONS /v1/query", Origin="https://a.example", Access_Control_Request_Method="POST"),
        _request("GET /v1/papers", Authorization="Bearer x", X_API_Key="y", traceparent=span, Cookie="a=b"),
        *(_request(f"GET {path.replace('PAPER', f'/v1/papers/{paper}').replace('JOB', job)}") for path in _PATHS),
    ]
    yield from ((f"{number:02}.http", request) for number, request in enumerate(made))
