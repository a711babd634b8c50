"""Language models behind one chat protocol; the pipeline builds a client and hands it upwards."""

from ragmachine.llm.chat import (
    ChatClient,
    Message,
    ModelUnavailableError,
    Reply,
    ThinkFilter,
    strip_thinking,
    trim_to_sentence,
)
from ragmachine.llm.ollama import OllamaChat

__all__ = [
    "ChatClient",
    "Message",
    "ModelUnavailableError",
    "OllamaChat",
    "Reply",
    "ThinkFilter",
    "strip_thinking",
    "trim_to_sentence",
]
