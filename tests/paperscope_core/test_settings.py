"""Sources of settings, and messages about wrong ones."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from paperscope_core.errors import SettingsError
from paperscope_core.settings import Settings, load_settings
from paperscope_core.settings.fields import setting_names

URL = "http://127.0.0.1:8000/v1"
KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def toml(folder: Path, text: str, name: str = "paperscope.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def origins(settings: Settings) -> dict[str, str]:
    return {row.name: row.origin for row in settings.describe()}


def test_nothing_given_needs_no_model() -> None:
    settings = load_settings(environ={})
    assert settings == Settings()
    assert settings.library == Path("library")
    roles = (settings.answer, settings.extract, settings.vision)
    assert [role.configured for role in roles] == [False] * 3
    assert settings.embed.local
    assert settings.notes() == []


def test_each_layer_hides_the_one_below(empty_folder: Path) -> None:
    toml(
        empty_folder,
        "[limits]\nmax_pages = 1\nmax_file_mb = 1\n[retrieval]\nchunks = 1\n[answer]\nbase_url = 'http://file/v1'\n",
    )
    environ = {
        "OPENAI_BASE_URL": "http://fallback/v1",
        "PAPERSCOPE_LIMITS__MAX_PAGES": "2",
        "PAPERSCOPE_RETRIEVAL__CHUNKS": "2",
    }
    settings = load_settings(environ=environ, overrides={"retrieval.chunks": 3})
    assert (settings.limits.max_file_mb, settings.limits.max_pages, settings.retrieval.chunks) == (1, 2, 3)
    assert settings.answer.base_url == "http://file/v1"
    assert settings.extract.base_url == "http://fallback/v1"
    found = origins(settings)
    assert found["limits.max_file_mb"] == "paperscope.toml"
    assert found["limits.max_pages"] == "PAPERSCOPE_LIMITS__MAX_PAGES"
    assert found["retrieval.chunks"] == "override"
    assert found["retrieval.images"] == "default"
    assert found["extract.base_url"] == "base_url (OPENAI_BASE_URL)"


def test_a_named_file_comes_before_the_variable_and_that_before_the_folder(empty_folder: Path) -> None:
    toml(empty_folder, "library = 'folder'")
    named = toml(empty_folder, "library = 'named'", "a.toml")
    variable = {"PAPERSCOPE_CONFIG": str(toml(empty_folder, "library = 'variable'", "b.toml"))}
    assert load_settings(environ=variable, file=named).library == Path("named")
    assert load_settings(environ=variable).library == Path("variable")
    assert load_settings(environ={}).library == Path("folder")


def test_the_process_environment_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPERSCOPE_LIBRARY", "elsewhere")
    assert load_settings(environ={}).library == Path("library")


def test_settings_made_in_code_read_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPERSCOPE_LIBRARY", "elsewhere")
    monkeypatch.setenv("LIBRARY", "elsewhere")
    assert Settings().library == Path("library")
    assert Settings(library="named").library == Path("named")


def test_overrides_may_be_nested_and_none_means_not_given() -> None:
    settings = load_settings(environ={}, overrides={"retrieval": {"chunks": 5, "images": None}, "library": None})
    assert (settings.retrieval.chunks, settings.retrieval.images) == (5, Settings().retrieval.images)


def test_roles_take_the_top_of_the_tree_unless_they_name_their_own() -> None:
    environ = {
        "PAPERSCOPE_MODEL": "big",
        "PAPERSCOPE_EXTRACT__MODEL": "small",
        "PAPERSCOPE_VISION__MODEL": "",
        "OPENAI_BASE_URL": URL + "/",
        "OPENAI_API_KEY": KEY,
    }
    settings = load_settings(environ=environ)
    assert (settings.answer.model, settings.extract.model) == ("big", "small")
    assert not settings.vision.configured
    assert settings.answer.base_url == URL
    assert settings.answer.api_key.get_secret_value() == KEY


@pytest.mark.parametrize("role", ["answer", "extract", "vision", "embed"])
@pytest.mark.parametrize("top", [{}, {"OPENAI_BASE_URL": "https://first.example/v1"}])
def test_a_key_does_not_leave_for_another_host(role: str, top: dict[str, str]) -> None:
    other = {"model": "m", "base_url": URL}
    settings = load_settings(environ=top | {"OPENAI_API_KEY": KEY}, overrides={role: other})
    rows = {row.name: row for row in settings.describe()}
    assert rows[f"{role}.base_url"].value == URL
    assert rows[f"{role}.api_key"][1:] == ("", "default")
    own = load_settings(environ=top | {"OPENAI_API_KEY": KEY}, overrides={role: other | {"api_key": "own"}})
    assert getattr(own, role).api_key.get_secret_value() == "own"


@pytest.mark.parametrize("role", ["answer", "extract", "vision"])
@pytest.mark.parametrize("same", [URL, f"{URL}/", f" {URL} "])
def test_a_key_goes_to_the_same_server_named_twice(role: str, same: str) -> None:
    environ = {"OPENAI_BASE_URL": URL, "OPENAI_API_KEY": KEY, f"PAPERSCOPE_{role.upper()}__BASE_URL": same}
    settings = load_settings(environ=environ)
    assert getattr(settings, role).api_key.get_secret_value() == KEY
    assert origins(settings)[f"{role}.api_key"] == "api_key (OPENAI_API_KEY)"


def test_a_key_that_no_role_uses_is_noted() -> None:
    environ = {"OPENAI_API_KEY": KEY, "PAPERSCOPE_ANSWER__MODEL": "m", "PAPERSCOPE_ANSWER__BASE_URL": URL}
    (note,) = load_settings(environ=environ).notes()
    assert note.startswith("OPENAI_API_KEY is set but every role names another server")
    assert load_settings(environ=environ | {"OPENAI_BASE_URL": URL}).notes() == []
    assert (
        load_settings(environ=environ | {"PAPERSCOPE_EXTRACT__MODEL": "m", "OPENAI_BASE_URL": "http://b"}).notes() == []
    )


def test_a_budget_of_questions_needs_the_prices_of_their_models() -> None:
    given = {"model": "m", "base_url": URL, "answer.max_cost": 0.05}
    with pytest.raises(SettingsError, match=r"max_cost = 0\.05 .*set answer\.price_prompt and vision\.price_prompt"):
        load_settings(environ={}, overrides=given)
    prices = {"answer.price_prompt": 1, "vision.price_prompt": 1}
    assert load_settings(environ={}, overrides=given | prices).answer.max_cost == 0.05


def test_a_key_without_a_model_is_noted() -> None:
    settings = load_settings(environ={"OPENAI_API_KEY": KEY})
    assert settings.notes() == ["OPENAI_API_KEY is set but no model is named: set PAPERSCOPE_MODEL"]
    used = load_settings(environ={"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": URL, "PAPERSCOPE_MODEL": "m"})
    assert used.notes() == []


def test_the_embedder_stays_local_beside_openai_variables() -> None:
    environ = {"OPENAI_BASE_URL": URL, "OPENAI_API_KEY": KEY, "PAPERSCOPE_EMBED__MODEL": "intfloat/e5-small-v2"}
    embed = load_settings(environ=environ).embed
    assert (embed.local, embed.model, embed.base_url) == (True, "intfloat/e5-small-v2", "")
    assert embed.api_key.get_secret_value() == ""


def test_the_embedder_uses_the_server_that_is_named_for_it() -> None:
    environ = {"PAPERSCOPE_EMBED__BASE_URL": URL, "OPENAI_BASE_URL": f"{URL}/", "OPENAI_API_KEY": KEY}
    embed = load_settings(environ=environ | {"PAPERSCOPE_EMBED__MODEL": "e"}).embed
    assert (embed.local, embed.base_url) == (False, URL)
    assert embed.api_key.get_secret_value() == KEY
    with pytest.raises(SettingsError, match=f"embed: base_url = '{URL}' needs the name of a model"):
        load_settings(environ=environ)


@pytest.mark.parametrize(
    ("variable", "near"),
    [
        ("PAPERSCOPE_ANSWER__MODLE", "PAPERSCOPE_ANSWER__MODEL"),
        ("PAPERSCOPE_ANSWER_MODEL", "PAPERSCOPE_ANSWER__MODEL"),
        ("PAPERSCOPE_MODEL__X", "PAPERSCOPE_MODEL"),
        ("PAPERSCOPE_RETRIEVAL__IMAGE", "PAPERSCOPE_RETRIEVAL__IMAGES"),
        ("PAPERSCOPE_ZZZ", "paperscope config"),
    ],
)
def test_an_unknown_variable_names_the_nearest(variable: str, near: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(environ={variable: "1"})
    assert variable in str(caught.value)
    assert near in str(caught.value)


def test_an_unknown_key_of_the_file_names_the_nearest(empty_folder: Path) -> None:
    toml(empty_folder, "[anwser]\nmodel = 'm'\n")
    with pytest.raises(SettingsError, match=r"'anwser\.model' \(from paperscope\.toml\): did you mean answer\.model"):
        load_settings(environ={})


@pytest.mark.parametrize(
    "text", ["[anwser]", "[answer.modle]", "[limits]\nmax_pages.x = 1", "x.y.z = 1", "answer = 'm'"]
)
def test_a_table_that_is_none_is_refused(empty_folder: Path, text: str) -> None:
    toml(empty_folder, text)
    with pytest.raises(SettingsError, match=r"unknown setting .* \(from paperscope\.toml\)"):
        load_settings(environ={})


def test_an_empty_section_sets_nothing(empty_folder: Path) -> None:
    toml(empty_folder, "[answer]\n[limits]\n")
    assert load_settings(environ={}) == Settings()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ANSWER__MODEL", "m", r"answer: the model 'm' has no base_url: .*https://api\.openai\.com/v1"),
        ("ANSWER", '{"model": "m"}', r"unknown setting 'answer' \(from PAPERSCOPE_ANSWER\)"),
        ("CALLS__TIMEOUT", "fast", r"calls\.timeout = 'fast' \(from PAPERSCOPE_CALLS__TIMEOUT\)"),
        *(("CALLS__TIMEOUT", number, r"calls\.timeout") for number in ("0", "-1", "inf", "nan", "")),
        ("SERVICE__PROXIES", '["proxy"]', r"service\.proxies.*not an address or a network such as 10\.0\.0\.0/8"),
        ("SERVICE__HOSTS", "a, b", r"service\.hosts = 'a, b' .*as JSON"),
        *(("ANSWER__EXTRA", f'{{"{name}": 1}}', r"answer\.extra") for name in ("messages", "model", "stream")),
        *(("ANSWER__EXTRA", value, r"answer\.extra") for value in ('{"a": NaN}', "low", "[1]")),
        ("LIBRARY", "~nobody-here/x", "library = '~nobody-here/x'"),
    ],
)
def test_a_wrong_value_is_refused_with_its_name_and_the_remedy(name: str, value: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        load_settings(environ={f"PAPERSCOPE_{name}": value})


def test_a_variable_gives_a_list_or_table_as_json() -> None:
    environ = {"PAPERSCOPE_SERVICE__HOSTS": '["a", "b"]', "PAPERSCOPE_EXTRACT__TYPES": '{"drug": "a medicine"}'}
    settings = load_settings(environ=environ)
    assert settings.service.hosts == ("a", "b")
    assert settings.extract.types == {"drug": "a medicine"}


def test_further_fields_of_requests_are_a_table_for_each_role(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(
        '[answer.extra]\nreasoning_effort = "low"\n[answer.extra.chat_template_kwargs]\nenable_thinking = false'
    )
    settings = load_settings(environ={"PAPERSCOPE_VISION__EXTRA": '{"temperature": 0.6}'}, file=file)
    extra = {"reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": False}}
    assert (settings.answer.extra, settings.vision.extra, settings.extract.extra) == (extra, {"temperature": 0.6}, {})


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://host/v1", "http://", "http://[x", "http://host:99999"])
def test_an_address_that_is_none_is_blamed_once(address: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(environ={"PAPERSCOPE_BASE_URL": address})
    assert str(caught.value).count(address) == 1


@pytest.mark.parametrize("address", [f"http://user:{KEY}@host/v1", f"http://host/v1?key={KEY}"])
@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "PAPERSCOPE_ANSWER__BASE_URL"])
def test_a_secret_in_an_address_is_refused_and_not_quoted(name: str, address: str) -> None:
    with pytest.raises(SettingsError, match="a key belongs into api_key") as caught:
        load_settings(environ={name: address})
    assert KEY not in str(caught.value)


def test_a_broken_key_is_refused_and_not_quoted() -> None:
    with pytest.raises(SettingsError, match="printable ASCII") as caught:
        load_settings(environ={"OPENAI_API_KEY": KEY + "é"})
    assert KEY not in str(caught.value)
    spaced = load_settings(environ={"OPENAI_API_KEY": f" {KEY}\n"})
    assert spaced.api_key.get_secret_value() == KEY


@pytest.mark.parametrize("content", [b"library = ", b"\xff\xfe", b"[answer\n"])
def test_a_file_that_is_no_toml_is_named(empty_folder: Path, content: bytes) -> None:
    (empty_folder / "paperscope.toml").write_bytes(content)
    with pytest.raises(SettingsError, match=r"paperscope\.toml' is not TOML"):
        load_settings(environ={})


def test_a_file_that_is_missing_is_named(empty_folder: Path) -> None:
    with pytest.raises(SettingsError, match=r"can't read the settings file 'none\.toml'"):
        load_settings(environ={"PAPERSCOPE_CONFIG": "none.toml"})
    with pytest.raises(SettingsError, match="can't read"):
        load_settings(environ={}, file=empty_folder)


def test_keys_are_masked_everywhere() -> None:
    settings = load_settings(environ={"OPENAI_API_KEY": KEY})
    rows = {row.name: row for row in settings.describe()}
    assert KEY not in repr(settings) + str(settings) + repr(rows) + settings.model_dump_json()
    assert rows["answer.api_key"].value
    assert rows["embed.api_key"].value == ""


def test_settings_are_frozen() -> None:
    settings = load_settings(environ={})
    with pytest.raises(ValidationError):
        settings.library = Path("other")
    with pytest.raises(ValidationError):
        settings.answer.model = "other"


def test_every_setting_is_described_once() -> None:
    names = [row.name for row in Settings().describe()]
    assert names == list(setting_names())
    assert len(names) == len(set(names))
    assert {"library", "answer.model", "embed.model", "limits.max_pages"} <= set(names)


NAMES = st.sampled_from(sorted(setting_names())) | st.text(max_size=12)
VALUES = st.integers() | st.floats() | st.text(max_size=5) | st.booleans() | st.lists(st.integers(), max_size=2)


@given(st.dictionaries(NAMES, VALUES, max_size=3))
def test_strange_values_end_as_settings_or_as_a_settings_error(overrides: dict[str, object]) -> None:
    try:
        settings = load_settings(environ={}, overrides=overrides)
    except SettingsError:
        return
    assert overrides.keys() == {row.name for row in settings.describe() if row.origin == "override"}


def test_the_file_of_keys_is_below_the_settings_file_beside_it(empty_folder: Path) -> None:
    toml(empty_folder, "api_key = 'k'\n[answer]\napi_key = 'one'\n", "paperscope.keys.toml")
    assert load_settings(environ={}).answer.api_key.get_secret_value() == "one"
    assert load_settings(environ={"OPENAI_API_KEY": "two"}).api_key.get_secret_value() == "k"
    toml(empty_folder, "[answer]\napi_key = 'mine'\n")
    settings = load_settings(environ={})
    assert settings.answer.api_key.get_secret_value() == "mine"
    assert origins(settings)["api_key"] == "paperscope.keys.toml"
    # Another settings file has keys of its own.
    assert not load_settings(environ={}, file=toml(empty_folder, "", "other.toml")).api_key.get_secret_value()
