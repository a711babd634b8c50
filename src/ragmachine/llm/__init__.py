"""Language models behind one chat protocol; the pipeline builds a client and hands it upwards."""

from ragmachine.llm.chain import ChatChain
from ragmachine.llm.chat import (
    ChatClient,
    Message,
    ModelUnavailableError,
    PromptTooLongError,
    Reply,
    ThinkFilter,
    strip_thinking,
    trim_to_sentence,
)
from ragmachine.llm.local import LocalChat
from ragmachine.llm.ollama import OllamaChat
from ragmachine.llm.openai import OpenAIChat

__all__ = [
    "ChatChain",
    "ChatClient",
    "LocalChat",
    "Message",
    "ModelUnavailableError",
    "OllamaChat",
    "OpenAIChat",
    "PromptTooLongError",
    "Reply",
    "ThinkFilter",
    "strip_thinking",
    "trim_to_sentence",
]
