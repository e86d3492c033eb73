"""Where a library is, as users write it."""

from pathlib import Path

import pytest

from paperscope_core.errors import SettingsError
from paperscope_core.locations import PostgresAddress, files_folder, local_folder, parse_location
from paperscope_core.settings import Settings, load_settings

ADDRESS = "postgresql://ann:s3cret@db.example:5433/papers?sslmode=require&files=/srv/my%20papers&password=s3cret"


def parsed(text: str) -> PostgresAddress:
    found = parse_location(text)
    assert isinstance(found, PostgresAddress)
    return found


def test_a_folder_is_a_folder(tmp_path: Path) -> None:
    assert parse_location(str(tmp_path)) == parse_location(tmp_path) == tmp_path
    assert files_folder(tmp_path) == local_folder(tmp_path) == tmp_path
    assert parse_location("~/papers") == Path.home() / "papers"


def test_an_address_has_folders_and_the_rest_is_left_to_libpq() -> None:
    found = parsed(ADDRESS)
    assert files_folder(found) == Path("/srv/my papers")
    assert found.address == "postgresql://ann:s3cret@db.example:5433/papers?sslmode=require&password=s3cret"
    assert parse_location(found.text) == found
    assert local_folder(found).is_relative_to(Path.home())
    assert local_folder(found) != local_folder(parsed("postgresql://db.example/other?files=/srv/papers"))
    given = parsed("postgres:///papers?host=/run/postgresql&files=data&cache=/var/cache/papers")
    assert given.address == "postgresql:///papers?host=/run/postgresql"
    with_objects = parsed("postgresql://db/papers?files=/srv/papers&objects=s3://bucket/papers/")
    assert with_objects.objects == "s3://bucket/papers"
    assert parse_location(with_objects.text) == with_objects
    assert (given.files, given.cache) == (Path.cwd() / "data", Path("/var/cache/papers"))


def test_no_text_of_an_address_contains_its_password() -> None:
    found = parsed(ADDRESS)
    settings = Settings(library=ADDRESS)
    for text in (str(found), repr(found), repr(settings), str(settings.describe())):
        assert "s3cret" not in text
    assert str(found) == "postgresql://ann@db.example:5433/papers?sslmode=require"
    assert settings.library == found == Settings.model_validate_json(settings.model_dump_json()).library


@pytest.mark.parametrize("name", ["password", "passwor%64", "sslpassword", "oauth_client_secret"])
def test_a_secret_among_the_parameters_is_not_shown(name: str) -> None:
    found = parsed(f"postgresql://db/papers?user=ann&{name}=s3cret&files=/x")
    assert str(found) == "postgresql://db/papers?user=ann"
    assert f"{name}=s3cret" in found.address


def test_a_password_may_have_any_character_if_it_is_encoded() -> None:
    address = "postgresql://ann:a%2Fb%40c%3Ad%23e%3Ff%25g%26h%20i@/papers?host=%2Frun&files=/srv/a@b"
    assert str(parsed(address)) == "postgresql://ann@/papers?host=%2Frun"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("postgresql://ann:s3cret@db/papers", "needs the folder of the library's files"),
        ("mysql://ann:s3cret@db/papers?files=/x", "mysql:// is no place of a library"),
        ("postgresql://ann:s3cret@db/papers?files=s3://bucket/papers", "name a folder"),
        ("postgresql://ann:s3cret@db/papers?files=/x&objects=gs://bucket", "objects: name a bucket"),
        # A password with characters that have a meaning in an address.
        ("postgresql://ann:s3cret#1@db/papers?files=/x", "write # as %23"),
        ("postgresql://ann:s3cret?1@db/papers?files=/x", "write [?] as %3F"),
        ("postgresql://ann:s3cret/1@db/papers?files=/x", "write / as %2F"),
        ("postgresql://ann:s3cret@1@db/papers?files=/x", "write @ as %40"),
        ("postgresql://ann:s3cret[1@db/papers?files=/x", r"write \[ as %5B"),
        ("postgresql://ann:s3cret%zz@db/papers?files=/x", "write % as %25"),
        ("postgresql://db/papers?password=s3cret%&files=/x", "write % as %25"),
        ("postgresql:/ann:s3cret@db/papers?files=/x", "postgresql://host"),
    ],
)
def test_an_address_that_cannot_be_used(text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as raised:
        load_settings(environ={}, overrides={"library": text})
    assert "s3cret" not in str(raised.value)
