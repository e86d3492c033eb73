"""OpenAI's chat completions: what is read of a request, how an answer is told in their form."""

from service.http.chat.errors import ERRORS, error_json, error_response
from service.http.chat.replies import ChatChunk, ChatCompletion, Model, Models
from service.http.chat.requests import ALL_PAPERS, ChatBody, unknown_model
from service.http.chat.text import cited_papers, read_reply, reply_text

__all__ = [
    "ALL_PAPERS",
    "ERRORS",
    "ChatBody",
    "ChatChunk",
    "ChatCompletion",
    "Model",
    "Models",
    "cited_papers",
    "error_json",
    "error_response",
    "read_reply",
    "reply_text",
    "unknown_model",
]
