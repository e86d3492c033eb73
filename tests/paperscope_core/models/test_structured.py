"""JSON replies: schemas, parsing, and one repair."""

import base64
import json
from dataclasses import replace
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, SecretStr, TypeAdapter

from paperscope_core.errors import ModelReplyError
from paperscope_core.models import CachedModel, FakeModel, ask_json, strict_schema
from paperscope_core.models.cache import MemoryCallCache
from paperscope_core.models.chat import OpenAIChatModel
from paperscope_core.models.endpoint import Endpoint
from paperscope_core.models.reply_reading import outermost_object
from paperscope_core.models.wrapper import ModelWrapper
from paperscope_core.types import Message, ModelReply, ModelRequest, Usage

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)
PROSE = st.text(st.characters(exclude_characters="{}`"))
LOOSE_PROSE = st.text(st.characters(exclude_characters="`"))


class Cat(BaseModel):
    kind: Literal["cat"]
    title: str = "Mr."


class Dog(BaseModel):
    kind: Literal["dog"]
    friend: Cat = Field(description="whom it likes")


class Zoo(BaseModel):
    default: int
    animals: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = []
    note: str | None = None


class Tree(BaseModel):
    leaves: int
    branches: list["Tree"] = []


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    leaves: int


class Echo(ModelWrapper):
    """Replies always the same in place of the model that it wraps."""

    def __init__(self, model: OpenAIChatModel, text: str) -> None:
        super().__init__(model)
        self._text = text

    async def _call(self, _request: ModelRequest, _send: object, /) -> ModelReply:
        return ModelReply(text=self._text)


REQUEST = ModelRequest(messages=(Message(role="user", text="count the leaves"),), schema_name="tree")


def objects(node: object) -> list[dict[str, object]]:
    """Every JSON object in a schema."""
    if isinstance(node, list):
        return [found for item in node for found in objects(item)]
    if isinstance(node, dict):
        return [node, *(found for item in node.values() for found in objects(item))]
    return []


@pytest.mark.parametrize("model", [Zoo, Tree])
def test_a_strict_schema_leaves_nothing_open(model: type[BaseModel]) -> None:
    schema = strict_schema(TypeAdapter(model))
    typed = [node for node in objects(schema) if node.get("type") == "object"]
    assert typed
    for node in typed:
        properties = node["properties"]
        assert isinstance(properties, dict)
        assert node["additionalProperties"] is False
        assert node["required"] == list(properties)
    for node in objects(schema):
        assert "oneOf" not in node
        assert "discriminator" not in node
        assert "$ref" not in node or node.keys() <= {"$ref", "$defs"}


def test_names_of_fields_are_not_taken_for_words_of_the_schema() -> None:
    schema = strict_schema(TypeAdapter(Zoo))
    assert schema["required"] == ["default", "animals", "note"]
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)
    assert set(definitions["Cat"]["properties"]) == {"kind", "title"}
    assert "default" not in definitions["Cat"]["properties"]["title"]


def test_types_without_a_strict_form_are_refused() -> None:
    class Free(BaseModel):
        counts: dict[str, int]

    with pytest.raises(TypeError, match="arbitrary keys"):
        strict_schema(TypeAdapter(Free))
    with pytest.raises(TypeError, match="must be a JSON object"):
        strict_schema(TypeAdapter(list[int]))


@given(OBJECTS, PROSE, PROSE, st.sampled_from([None, 2]))
def test_an_object_is_found_in_prose(value: dict[str, object], before: str, after: str, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    assert json.loads(outermost_object(before + text + after)) == value


@given(OBJECTS, LOOSE_PROSE, LOOSE_PROSE, st.sampled_from(["```json", "```", "```JSON "]), st.sampled_from([None, 2]))
def test_an_object_is_found_in_a_fence_even_among_braces(
    value: dict[str, object], before: str, after: str, fence: str, indent: int | None
) -> None:
    text = json.dumps(value, indent=indent)
    assert json.loads(outermost_object(f"{before}\n{fence}\n{text}\n```\n{after}")) == value


def test_a_fence_inside_a_value_is_part_of_it() -> None:
    value = {"code": "```json\n{}\n```", "n": 1}
    assert json.loads(outermost_object(json.dumps(value))) == value


@given(st.text(st.characters(exclude_characters="{")))
def test_text_without_an_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no JSON object"):
        outermost_object(text)


async def test_the_schema_goes_with_the_request() -> None:
    model = FakeModel(['Sure!\n```json\n{"leaves": 2}\n```'])
    tree, usage = await ask_json(model, REQUEST, Tree)
    assert tree == Tree(leaves=2)
    assert usage.calls == 1
    assert model.requests[0].schema == strict_schema(TypeAdapter(Tree))
    assert model.requests[0].messages == REQUEST.messages


async def test_an_adapter_serves_as_well_as_a_model() -> None:
    adapter = TypeAdapter(Zoo)
    zoo, _ = await ask_json(FakeModel(['{"default": 1, "animals": [{"kind": "cat"}]}']), REQUEST, adapter)
    assert zoo.animals == [Cat(kind="cat")]


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ('{"leaves": "many"}', "leaves: Input should be a valid integer"),
        ("I can't", "no JSON object"),
        ('{"leaves": 1', ""),
    ],
)
async def test_a_wrong_reply_is_shown_to_the_model_once(wrong: str, problem: str) -> None:
    model = FakeModel([wrong, '{"leaves": 3}'])
    tree, usage = await ask_json(model, REQUEST, Tree)
    assert (tree.leaves, usage.calls) == (3, 2)
    shown = model.requests[1].messages
    assert shown[:-2] == REQUEST.messages
    assert shown[-2] == Message(role="assistant", text=wrong)
    assert problem in shown[-1].text


async def test_two_wrong_replies_are_an_error_that_quotes_the_start_of_the_second() -> None:
    model = FakeModel(["nonsense", '{"leaves": null}\x1b' + " " * 10_000, '{"leaves": 1}'])
    with pytest.raises(ModelReplyError, match=r"'fake' twice gave no valid 'tree' but '\{\"leaves\": null") as caught:
        await ask_json(model, REQUEST, Tree)
    assert len(model.requests) == 2
    message = str(caught.value)
    assert "(leaves: Input should be a valid integer)" in message
    assert message.isprintable()
    assert len(message) < 1000


@pytest.mark.parametrize(
    "wrong", ['{"leaves": "KEY"}', '{"leaves": 1, "KEY": 2, "\\u001b[2J": 3}', '{"kind": "KEY"}', "KEY"]
)
async def test_an_error_about_a_reply_quotes_no_key(wrong: str) -> None:
    key = "sk-Very/secret+0123456789=="
    for form in (key, key.encode().hex(), base64.b64encode(key.encode()).decode()):
        endpoint = Endpoint(model="m", base_url="http://127.0.0.1:1/v1", api_key=SecretStr(key), timeout=1.0)
        model = Echo(OpenAIChatModel(endpoint), wrong.replace("KEY", form))
        with pytest.raises(ModelReplyError, match=r"but .*\*{8}") as caught:
            await ask_json(CachedModel(model, MemoryCallCache()), REQUEST, Strict)
        assert form not in str(caught.value)
        assert str(caught.value).isprintable()


class Cutting(FakeModel):
    """Cuts the replies that end in an ellipsis."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        reply = await super().complete(request)
        return replace(reply, cut=reply.text.endswith("…"))


async def test_a_reply_that_was_cut_is_paid_once_and_then_asked_for_in_another_way() -> None:
    model = Cutting(['{"kind": "ca…', '{"kind": …', '{"kind": "cat"}'])
    cached = CachedModel(model, MemoryCallCache())
    for paid in (1, 2):
        with pytest.raises(ModelReplyError, match="cut off at its token limit; allow more"):
            await ask_json(cached, REQUEST, Cat)
        assert len(model.requests) == paid
    for usage in (Usage(calls=1, cached=2), Usage(cached=3)):
        cat, used = await ask_json(cached, REQUEST, Cat)
        assert (cat, used.calls, used.cached) == (Cat(kind="cat"), usage.calls, usage.cached)
    assert [request.temperature for request in model.requests] == [0.0, 0.2, 0.4]


async def test_a_kept_reply_is_not_asked_for_in_other_ways_for_ever() -> None:
    model = FakeModel(lambda _: "none")
    cached = CachedModel(model, MemoryCallCache())
    for paid in (2, 4, 6, 8, 10, 10):
        with pytest.raises(ModelReplyError, match="twice gave no valid"):
            await ask_json(cached, REQUEST, Cat)
        assert len(model.requests) == paid


async def test_what_the_endpoint_raises_is_raised_at_once() -> None:
    model = FakeModel([ModelReplyError("no JSON at all")])
    with pytest.raises(ModelReplyError, match="no JSON at all"):
        await ask_json(model, REQUEST, Cat)
    assert len(model.requests) == 1
