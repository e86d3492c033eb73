"""The routes for images: crops, and pages with boxes drawn on them."""

import io
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pymupdf
import pytest
from PIL import Image

from graph_store import Store
from paperscope_core.types import content_hash
from tests.model_server import serve
from tests.service.conftest import PAPER, PNG, settings_in, settings_of, small_paper
from tests.service.servers import embedder_settings, job_of, serve_app, upload

EXAMPLE = "b1810c2e3f4a"
MARKED = (216, 84, 0)


@pytest.fixture(scope="module")
def address(example_library: Path) -> Iterator[str]:
    with serve_app(settings_of(example_library)) as address:
        yield f"{address}/v1"


def shown(picture: bytes) -> Image.Image:
    with Image.open(io.BytesIO(picture)) as image:
        assert image.format == "PNG"
        return image.convert("RGB")


def page_of(address: str, page: int, **query: int | str | list[str]) -> Image.Image:
    params: dict[str, int | str | list[str]] = {"dpi": 72, **query}
    response = httpx2.get(f"{address}/papers/{EXAMPLE}/pages/{page}.png", params=params, timeout=60)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "image/png"
    return shown(response.content)


def is_framed(image: Image.Image, box: list[float]) -> bool:
    """Whether the corners of a box (points, at 72 dpi) are marked."""
    return all(
        any(image.getpixel((round(x) + dx, round(y) + dy)) == MARKED for dx in (-1, 0, 1) for dy in (-1, 0, 1))
        for x, y in (box[:2], box[2:])
    )


def test_a_crop_may_be_kept_for_ever(address: str) -> None:
    crop = httpx2.get(f"{address}/papers/{EXAMPLE}/elements/figure-1").json()["crop"]
    response = httpx2.get(f"{address}/crops/{crop}")
    assert content_hash(response.content) == crop
    assert response.headers["etag"] == f'"{crop}"'
    assert response.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert shown(response.content).size[0] > 100
    for known in (f'"{crop}"', f'"other", W/"{crop}"', "*"):
        again = httpx2.get(f"{address}/crops/{crop}", headers={"If-None-Match": known})
        assert (again.status_code, again.content) == (304, b"")
    assert httpx2.get(f"{address}/crops/{crop}", headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_crop_that_no_paper_names_is_unknown(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "library")
    store.add(small_paper(), crops={content_hash(PNG): PNG}, source="/tagger.pdf", embedder="fake-64")
    # As after a killed add: the image is in the folder, and no paper has it.
    store.remove(PAPER)
    store.close()
    with serve_app(settings_of(tmp_path / "library")) as address:
        response = httpx2.get(f"{address}/v1/crops/{content_hash(PNG)}")
    assert list((tmp_path / "library" / "crops").glob("*/*.png"))
    assert response.status_code == 404
    assert content_hash(PNG) in response.json()["detail"]


@pytest.mark.slow
def test_a_page_is_drawn_with_the_requested_marks(address: str) -> None:
    plain = page_of(address, 3)
    assert plain.size == pytest.approx((595, 842), abs=1)
    elements = httpx2.get(f"{address}/papers/{EXAMPLE}/elements?page=3&kind=table").json()["elements"]
    boxes = [element["place"]["box"] for element in elements]
    assert not any(is_framed(plain, box) for box in boxes)
    names = [element["id"].split("/")[1] for element in elements]
    both = page_of(address, 3, element=names)
    assert all(is_framed(both, box) for box in boxes)
    one = page_of(address, 3, element=names[0], box=["100,100,200,150.5", "0,0,99999,10"])
    assert [is_framed(one, box) for box in (*boxes, [100, 100, 200, 150])] == [True, False, True]


def test_a_higher_resolution_gives_more_pixels(address: str) -> None:
    assert page_of(address, 1, dpi=144).size == pytest.approx((1190, 1684), abs=2)


def test_a_page_that_the_client_has_is_not_drawn_again(address: str) -> None:
    path = f"{address}/papers/{EXAMPLE}/pages/1.png?dpi=36"
    first = httpx2.get(path, timeout=60)
    assert first.headers["cache-control"] == "private, no-cache"
    again = httpx2.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    marked = httpx2.get(f"{path}&box=1,1,9,9", headers={"If-None-Match": first.headers["etag"]}, timeout=60)
    assert marked.status_code == 200


def test_what_cannot_be_drawn_is_a_problem(address: str) -> None:
    pages = f"{address}/papers/{EXAMPLE}/pages"
    for path, status, words in (
        ("8.png", 404, "no page 8"),
        ("1.png?element=table-99", 404, "'table-99'"),
        ("1.png?element=table-3", 404, "but on 3"),
        ("0.png", 422, "greater than or equal to 1"),
        ("1.png?dpi=5000", 422, "less than or equal to 600"),
        ("1.png?box=1,2,3", 422, "pattern"),
        ("1.png?box=nan,0,1,1", 422, "pattern"),
        ("1.png?element=../../library.sqlite", 422, "pattern"),
    ):
        response = httpx2.get(f"{pages}/{path}")
        assert response.status_code == status, path
        assert response.headers["content-type"] == "application/problem+json"
        assert words in response.json()["detail"]


def test_a_page_of_a_deleted_file_is_a_problem(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "library")
    store.add(small_paper(), crops={content_hash(PNG): PNG}, source=str(tmp_path / "gone.pdf"), embedder="fake-64")
    store.close()
    with serve_app(settings_of(tmp_path / "library")) as address:
        response = httpx2.get(f"{address}/v1/papers/{PAPER}/pages/1.png")
    assert response.status_code == 404
    assert response.json()["type"] == "urn:paperscope:problem:no-picture"
    assert str(tmp_path) not in response.text


@pytest.mark.slow
def test_a_page_of_an_encrypted_paper_is_drawn_with_its_password(
    tmp_path: Path, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    password = "Sésam öffne dich"  # noqa: S105
    with pymupdf.open(root / "examples" / "paper" / "ner-report.pdf") as document:
        # One page is parsed faster than seven.
        document.select([2])
        locked = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=password, owner_pw="own")
    with serve() as model, serve_app(settings_in(tmp_path, **embedder_settings(model.url))) as address:
        assert "is encrypted" in job_of(upload(address, locked, "locked.pdf"), address)["error"]
        job = job_of(upload(address, locked, "locked.pdf", password=password), address)
        assert job["state"] == "succeeded", job
        paper = f"{address}/v1/papers/{job['result']['paper']}"
        page = f"{paper}/pages/1.png?dpi=72&element=table-3"
        for sent in ({}, {"X-Paper-Password": "wrong"}):
            refused = httpx2.get(page, headers=sent, timeout=60)
            assert (refused.status_code, refused.json()["type"]) == (403, "urn:paperscope:problem:paper-locked")
            assert "X-Paper-Password" in refused.json()["detail"]
        drawn = httpx2.get(page, headers={b"X-Paper-Password": password.encode()}, timeout=60)
        assert shown(drawn.content).size == pytest.approx((595, 842), abs=1)
        crop = httpx2.get(f"{paper}/elements/table-3").json()["crop"]
        assert shown(httpx2.get(f"{address}/v1/crops/{crop}").content).size[0] > 100
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert password.encode() not in kept
    assert "Sésam" not in caplog.text
