"""Segments as columns: the numbers of a day's segments as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.domain.columns import Floats, Ints
from planner.domain.segment import Segment
from planner.units import GRAMS_PER_TONNE


@dataclass(frozen=True, eq=False)
class SegmentColumns:
    """Segments as arrays, one entry per segment.

    Attributes
    ----------
    edges_s
        Start of each segment, and the end of the last.
    length_s
        Length of each segment.
    temperature_c
        Outside temperature, as the PUE table takes it.
    price_eur_per_kwh
        Price of bought electricity.
    carbon_g_per_kwh
        Carbon intensity of bought electricity.
    fee_eur_per_kwh
        What is paid on top of it: grid fees, levies, taxes.
    full_price_eur_per_kwh
        Price of bought electricity with its fees and its carbon.
    solar_w
        Mean power of the site's own photovoltaics.
    feed_in_eur_per_kwh
        What sun that the site does not use earns; 0 where it would cost something and is curtailed.
    uses_sun
        Whether the site uses its own sun: where bought electricity costs more than feeding in earns.
    counts
        What money counts when plans are compared.
    """

    edges_s: Ints
    length_s: Ints
    temperature_c: Floats
    price_eur_per_kwh: Floats
    carbon_g_per_kwh: Floats
    fee_eur_per_kwh: Floats
    full_price_eur_per_kwh: Floats
    solar_w: Floats
    feed_in_eur_per_kwh: Floats
    uses_sun: npt.NDArray[np.bool_]
    counts: Floats

    def __len__(self) -> int:
        return len(self.length_s)

    def counted_s(self, start_s: Ints, end_s: Ints) -> Floats:
        """Seconds of the segments between starts and ends, each as much as its segment counts."""
        until = np.concatenate([[0.0], np.cumsum(self.length_s * self.counts)])
        seconds: Floats = np.interp(end_s, self.edges_s, until) - np.interp(start_s, self.edges_s, until)
        return seconds


def segment_columns(segments: Sequence[Segment], carbon_eur_per_tonne: float) -> SegmentColumns:
    """The segments of a day as arrays; they follow each other without gaps."""
    edges_s = np.array([*(segment.start_s for segment in segments), segments[-1].end_s], dtype=np.int64)
    price = np.array([segment.price_eur_per_kwh for segment in segments], dtype=np.float64)
    fee = np.array([segment.fee_eur_per_kwh for segment in segments], dtype=np.float64)
    feed_in = np.array([max(0.0, segment.feed_in_eur_per_kwh) for segment in segments], dtype=np.float64)
    carbon_g = np.array([segment.carbon_g_per_kwh for segment in segments], dtype=np.float64)
    full_price = price + fee + carbon_g / GRAMS_PER_TONNE * carbon_eur_per_tonne
    return SegmentColumns(
        edges_s=edges_s,
        length_s=np.diff(edges_s),
        temperature_c=np.array([segment.temperature_c for segment in segments], dtype=np.float64),
        price_eur_per_kwh=price,
        carbon_g_per_kwh=carbon_g,
        fee_eur_per_kwh=fee,
        full_price_eur_per_kwh=full_price,
        solar_w=np.array([segment.solar_w for segment in segments], dtype=np.float64),
        feed_in_eur_per_kwh=feed_in,
        uses_sun=full_price > feed_in,
        counts=np.array([segment.counts for segment in segments], dtype=np.float64),
    )
