"""Text in the image of a page. Runs in the child: ONNX models keep threads, which must not fork."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from ragmachine.corpus.loaders.layout import Segment

_MIN_SCORE = 0.5
# Lines of a box are about this much higher than the font that fills them.
_BOX_EMS = 1.25


@cache
def _engine() -> Any:
    """The engine, its models read from its own package; one thread, since workers run beside."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # before onnxruntime is imported
    from rapidocr import RapidOCR

    runtime = {"intra_op_num_threads": 1, "inter_op_num_threads": 1, "enable_cpu_mem_arena": True}
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,  # lines upside down are not worth a third of the time
            "Rec.rec_batch_num": 1,  # a batch is padded to its longest line: slower on a processor
            **{f"EngineConfig.onnxruntime.{name}": value for name, value in runtime.items()},
        }
    )


def read_image(image: Any, scale: float) -> list[Segment]:
    """The lines of text in an image.

    Args:
        image: (height, width, 3) uint8.
        scale: pixels in a point.
    Returns: segments in points, in no particular order.
    """
    found = _engine()(image)
    if found.txts is None:
        return []
    segments = []
    for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        if score < _MIN_SCORE or not text.strip():
            continue
        xs, ys = [float(x) / scale for x, _ in corners], [float(y) / scale for _, y in corners]
        size = round((max(ys) - min(ys)) / _BOX_EMS, 1)
        segments.append(Segment(min(xs), min(ys), max(xs), max(ys), size, text.strip()))
    return segments
