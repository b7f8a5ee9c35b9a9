"""Read an MCAP file that was cut off as far as it goes, and make a whole file of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
import struct
from typing import Any

from mcap.exceptions import McapError
from mcap.records import Channel, Message, Metadata, Schema
from mcap.stream_reader import CRCValidationError, StreamReader
import zstandard

from parallel_dynamics.errors import InputError
from parallel_dynamics.recording import messages
from parallel_dynamics.recording.mcap_file import McapFile


@dataclass(frozen=True)
class Raw:
    """One message as it is in the file, in CDR."""

    topic: str
    kind: str
    definition: str
    time_ns: int
    sent_ns: int
    data: bytes


@dataclass(frozen=True)
class Recovered:
    """What ``recover`` saved: messages, and the time from the first to the last, s."""

    messages: int
    duration: float


def scan(path: Path, metadata: dict[str, str] | None = None) -> Iterator[Raw]:
    """Yield messages from the start of a file as far as it is sound, without its index.

    ``metadata`` is filled with what the file's metadata records say.
    """
    schemas: dict[int, Schema] = {}
    channels: dict[int, Channel] = {}
    with open(path, 'rb') as file:
        reader = StreamReader(file, validate_crcs=True)
        try:
            for record in reader.records:
                if isinstance(record, Schema):
                    schemas[record.id] = record
                elif isinstance(record, Channel):
                    channels[record.id] = record
                elif isinstance(record, Metadata) and metadata is not None:
                    metadata.update(record.metadata)
                elif isinstance(record, Message):
                    yield _raw(record, channels, schemas)
        except _CUT_OFF:
            return


# What the reader raises at the end of a file that stops in the middle of a record.
_CUT_OFF: tuple[type[BaseException], ...] = (
    McapError, CRCValidationError, EOFError, struct.error, zstandard.ZstdError, KeyError,
    UnicodeDecodeError, RuntimeError,
)  # fmt: skip


def _raw(record: Any, channels: dict[int, Channel], schemas: dict[int, Schema]) -> Raw:
    channel = channels[record.channel_id]
    schema = schemas[channel.schema_id]
    return Raw(
        channel.topic, schema.name, schema.data.decode(), record.log_time, record.publish_time,
        record.data,
    )  # fmt: skip


def recover(path: str | Path, output: str | Path) -> Recovered:
    """Copy every message that can be read into a new and complete file.

    Raises
    ------
    InputError
        If nothing can be read, or if ``output`` exists.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f'{path}: expected an MCAP file, found none')
    notes: dict[str, str] = {}
    found = scan(path, notes)
    first = next(found, None)
    if first is None:
        raise InputError(f'{path}: expected an MCAP file with messages, found none to save')
    file = McapFile(output, {**notes, 'recovered_from': path.name})
    schemas: dict[str, int] = {}
    channels: dict[str, int] = {}
    count, begin, end = 0, first.time_ns, first.time_ns
    try:
        for raw in _chain(first, found):
            if raw.kind not in schemas:
                schemas[raw.kind] = file.add_schema(raw.kind, raw.definition)
            if raw.topic not in channels:
                known = raw.kind in messages.typestore().fielddefs
                hash_ = {'topic_type_hash': messages.type_hash(raw.kind)} if known else {}
                channels[raw.topic] = file.add_channel(raw.topic, schemas[raw.kind], hash_)
            file.message(channels[raw.topic], raw.time_ns, raw.data, raw.sent_ns)
            count, begin, end = count + 1, min(begin, raw.time_ns), max(end, raw.time_ns)
            if file.pending > 2**20:
                file.flush()
    finally:
        file.close()
    return Recovered(count, (end - begin) / 1e9)


def _chain(first: Raw, rest: Iterator[Raw]) -> Iterator[Raw]:
    yield first
    yield from rest
