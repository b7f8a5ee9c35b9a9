"""Write recordings as CSV: one file for each topic that has numbers."""

from __future__ import annotations

from collections.abc import Sequence
import csv
from pathlib import Path

import numpy as np

from parallel_dynamics.recording.reader import Recording


def export_csv(
    recording: Recording, folder: str | Path, topics: Sequence[str] | None = None
) -> list[Path]:
    """Write the topics of a recording as CSV files and return their paths.

    The first column is ``time``, the message's stamp in seconds, or the time of its recording
    where it has no stamp; the others are named by their path in the message. All numbers have
    as many digits as it takes to read the same value back. Topics without numbers are left out.
    """
    return list(export_topics(recording, folder, topics).values())


def export_topics(
    recording: Recording, folder: str | Path, topics: Sequence[str] | None = None
) -> dict[str, Path]:
    """Do what ``export_csv`` does, and return the path of every topic that was written."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for topic in recording.topics if topics is None else map(recording.resolve, topics):
        time, names, values = recording.table(topic)
        if not names:
            continue
        path = folder / (topic.strip('/').replace('/', '.') + '.csv')
        with open(path, 'w', newline='', encoding='utf-8') as file:
            out = csv.writer(file)
            out.writerow(['time', *names])
            for t, row in zip(time, values):
                out.writerow([f'{t:.9f}', *('' if np.isnan(v) else repr(v) for v in row.tolist())])
        written[topic] = path
    return written
