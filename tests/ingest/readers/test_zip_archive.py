"""Parts of ZIP archives are unpacked within limits, whatever an archive says of itself."""

import struct
import tracemalloc
import zipfile
from io import BytesIO

import pytest

from ingest.readers.zip_archive import ZipArchive
from paperscope_core.errors import PaperFileError

SIZE = 20_000_000


def archive(method: int, *, said: int) -> ZipArchive:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", method) as written:
        written.writestr("a", bytes(SIZE))
    return ZipArchive(out.getvalue().replace(struct.pack("<I", SIZE), struct.pack("<I", said)), name="a", kind="ZIP")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_no_more_is_unpacked_than_a_part_says(method: int) -> None:
    found = archive(method, said=10)
    tracemalloc.start()
    try:
        with pytest.raises(PaperFileError, match="is damaged"):
            found.read("a", most=100)
        assert tracemalloc.get_traced_memory()[1] < SIZE // 10
    finally:
        tracemalloc.stop()
    assert archive(zipfile.ZIP_DEFLATED, said=SIZE).read("a", most=SIZE) == bytes(SIZE)
