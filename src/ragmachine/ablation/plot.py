"""Recall curves of the ladder as a picture; matplotlib is imported only here, when it is drawn."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragmachine.ablation.configurations import LADDER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLOT_REMEDY = "matplotlib is not installed; `pip install 'ragmachine[plots]'` brings it"
_PANEL_INCHES = (5.2, 5.0)
_LEGEND_INCHES = 3.0
# The same document gives the same bytes: text stays text, and neither ids nor the date are random.
_STYLE: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "ragmachine", "font.size": 9}


def can_plot() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def plot(document: Mapping[str, Any]) -> bytes:
    """An SVG with a panel per style: recall at 1 to k of every ladder row, with its band.

    Without a ladder the rows there are are drawn.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows = [row for row in document["rows"] if row["group"] == LADDER] or document["rows"]
    styles = list(document["styles"])
    colours = mpl.colormaps["viridis_r"]
    with mpl.rc_context(_STYLE):
        width = _PANEL_INCHES[0] * len(styles) + _LEGEND_INCHES
        figure = Figure(figsize=(width, _PANEL_INCHES[1]), layout="constrained")
        panels = figure.subplots(1, len(styles), squeeze=False)[0]
        for axes, style in zip(panels, styles, strict=True):
            for place, row in enumerate(rows):
                colour = colours(0.08 + 0.92 * place / max(1, len(rows) - 1))
                _draw(axes, row, style, colour)
            count = document["styles"][style]
            axes.set_title(f"{count} {style} questions".replace("  ", " "))
            axes.set_xlabel("hits looked at")
            axes.set_xticks(range(1, document["k"] + 1))
            axes.grid(alpha=0.25)
        panels[0].set_ylabel("recall, with 95 % bootstrap bands")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right upper", frameon=False)
        stream = io.BytesIO()
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


def _draw(axes: Axes, row: Mapping[str, Any], style: str, colour: Any) -> None:
    measured = row["styles"][style]
    cutoffs = range(1, len(measured["recall"]) + 1)
    low, high = zip(*measured["band"], strict=True)
    axes.fill_between(cutoffs, low, high, color=colour, alpha=0.06, linewidth=0)
    axes.plot(cutoffs, measured["recall"], color=colour, linewidth=1.4, label=row["title"])
