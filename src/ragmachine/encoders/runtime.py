"""Opening ONNX models and their tokenizers; for the encoders of this room alone."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ragmachine.errors import ModelError

from .encoder import EncoderUnavailableError

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
MODULES = ("onnxruntime", "tokenizers")
KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
# CoreML compiles a model for each input shape anew, and TensorRT takes minutes to begin.
_GPU_PROVIDERS = ("CUDAExecutionProvider", "ROCMExecutionProvider", "DmlExecutionProvider")


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model that is ready to run.

    Attributes:
        session: runs it.
        input_types: the numpy type of each input it wants.
        output: name of the output of interest.
    """

    session: onnxruntime.InferenceSession
    input_types: dict[str, Any]
    output: str


def open_model(path: str, *, threads: int, output: str, kind: str) -> OpenedModel:
    """Open a model that takes token ids.

    Args:
        path: the ``.onnx`` file.
        threads: of one run; 0 for as many as there are cores.
        output: name of the output wanted, where the model has one so called; else its first.
        kind: what the model should be, for the error.
    Raises: EncoderUnavailableError: the file or a library is missing; ModelError: not such a model.
    """
    require_modules()
    # the library can send usage data home; it looks at this when it is first imported
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    require_file(path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # errors alone: a warning on a terminal helps nobody
    offered = onnxruntime.get_available_providers()
    providers = [name for name in _GPU_PROVIDERS if name in offered]
    try:
        session = onnxruntime.InferenceSession(
            path, options, providers=[*providers, "CPUExecutionProvider"]
        )
    except Exception as error:  # noqa: BLE001  (the library's errors share no narrower base)
        raise no_model(path, kind, first_line(error)) from None
    types = {one.name: _integer_type(one.type) for one in session.get_inputs()}
    outputs = [one.name for one in session.get_outputs()]
    if not {"input_ids", "attention_mask"} <= set(types) <= KNOWN_INPUTS or not outputs:
        raise no_model(path, kind, f"its inputs are {', '.join(types) or 'none'}")
    return OpenedModel(session, types, output if output in outputs else outputs[0])


def open_tokenizer(path: str, kind: str = "sentence encoder") -> tokenizers.Tokenizer:
    """A tokenizer that neither cuts nor pads, from a ``tokenizer.json``.

    Raises:
        EncoderUnavailableError: the file or the library is missing.
        ModelError: the file describes no tokenizer.
    """
    require_modules(["tokenizers"])
    import tokenizers

    require_file(path)
    try:
        tokenizer = tokenizers.Tokenizer.from_file(path)
    except Exception as error:  # noqa: BLE001  (the library raises nothing narrower)
        raise no_model(path, kind, f"it is no tokenizer: {first_line(error)}") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def require_modules(names: Sequence[str] = MODULES) -> None:
    """Refuse to go on without the libraries.

    Raises: EncoderUnavailableError: one is not installed; with what to type.
    """
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        raise EncoderUnavailableError(
            f"{' and '.join(missing)} not installed, so ONNX models cannot be run",
            remedy="type `uv sync --extra dense`, or `pip install 'ragmachine[dense]'`",
        )


def require_file(path: str) -> None:
    """Refuse to go on without a file.

    Raises: EncoderUnavailableError: it is not there.
    """
    if not os.path.isfile(path):
        raise EncoderUnavailableError(
            f"there is no file {path}",
            remedy=f"name a folder that holds {MODEL_FILE} and {TOKENIZER_FILE}",
        )


def file_digest(path: str) -> bytes:
    """SHA-256 of a file.

    Raises: EncoderUnavailableError: it is not there.
    """
    require_file(path)
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def no_model(path: str, kind: str, reason: str) -> ModelError:
    """The error for a file that is something else."""
    return ModelError(
        f"{path} is not a {kind}: {reason}",
        remedy=f"name a folder that holds {MODEL_FILE} and {TOKENIZER_FILE} of one model",
    )


def first_line(error: Exception) -> str:
    """What a library's error says, short."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _integer_type(declared: str) -> type[np.signedinteger[Any]]:
    return np.int32 if "int32" in declared else np.int64
