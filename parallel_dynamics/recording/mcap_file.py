"""An MCAP file that is complete whenever it is looked at (https://mcap.dev/spec).

Most writers leave index and footer to the end; a program that is killed then leaves a file that
few readers open. Here every flush writes one chunk *and* a new index and footer behind it, over
the old ones, in a single write to the file. So the file on disk is always a whole one, and a
killed program loses what came after its last flush. Where the disk is full, the old index and
footer are put back, and what could not be written waits for the next flush.
"""

from __future__ import annotations

from collections.abc import Mapping
import contextlib
from dataclasses import dataclass, field
import os
from pathlib import Path
import struct
import threading
import zlib

from mcap import records
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
import zstandard

from parallel_dynamics.errors import InputError, ParallelDynamicsError
from parallel_dynamics.resources import version

MAGIC = b'\x89MCAP0\r\n'
_MESSAGE = struct.Struct('<BQHIQQ')
_MESSAGE_FIELDS = 22  # bytes of a message record before its data
_INDEX_ENTRY = struct.Struct('<QQ')


@dataclass(frozen=True)
class _Summary:
    """What index and footer tell of the chunks before them; times in ns."""

    schemas: list[bytes] = field(default_factory=list)
    channels: list[bytes] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)
    chunks: list[bytes] = field(default_factory=list)
    first: int = 0
    last: int = 0


class McapFile:
    """A chunked, indexed and compressed MCAP file with the ``ros2`` profile.

    All methods may be called from several threads. ``message`` only appends to memory; the disk
    is touched by ``flush`` and ``close``.

    Parameters
    ----------
    path : path
        File to write; it must not exist, for recordings are not made again.
    metadata : mapping of str to str, optional
        Written as the metadata record ``parallel_dynamics``.
    """

    def __init__(self, path: str | Path, metadata: Mapping[str, str] | None = None) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._schemas: list[bytes] = []
        self._channels: list[bytes] = []
        self._counts: dict[int, int] = {}
        self._written = _Summary()
        self._index: dict[int, list[bytes]] = {}
        self._chunk_first: int = 0
        self._chunk_last: int = 0
        self._start_chunk()
        self._closed = False
        head = MAGIC + _record(records.Header('ros2', f'parallel_dynamics {version()}'))
        self._metadata_indexes: list[bytes] = []
        if metadata:
            record = _record(records.Metadata('parallel_dynamics', dict(metadata)))
            index = records.MetadataIndex(len(head), len(record), 'parallel_dynamics')
            self._metadata_indexes.append(_record(index))
            head += record
        self._end = len(head)  # where the next chunk goes
        self._file = self._begin(head + self._tail(self._end, self._written))

    def _begin(self, data: bytes) -> int:
        try:
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            try:
                _write_all(file, data, 0)
            except OSError:
                os.close(file)
                self.path.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise InputError(
                f'{self.path}: cannot write a recording here ({error.strerror}). Give a file that '
                'does not exist, in a folder that does, on a disk with room'
            ) from None
        return file

    # ---------------------------------------------------------------- adding

    def add_schema(self, name: str, definition: str) -> int:
        """Add a message type with its ROS 2 definition text; return its number."""
        with self._lock:
            number = len(self._schemas) + 1
            record = _record(records.Schema(number, definition.encode(), 'ros2msg', name))
            self._schemas.append(record)
            self._chunk += record
        return number

    def add_channel(self, topic: str, schema: int, metadata: Mapping[str, str]) -> int:
        """Add a topic with messages in CDR; return its number."""
        with self._lock:
            number = len(self._channels) + 1
            record = _record(records.Channel(number, topic, 'cdr', dict(metadata), schema))
            self._channels.append(record)
            self._counts[number] = 0
            self._chunk += record
        return number

    def message(
        self, channel: int, time_ns: int, data: bytes | memoryview, sent_ns: int | None = None
    ) -> None:
        """Append a serialised message: when it was recorded, and when it was sent if known."""
        sent_ns = time_ns if sent_ns is None else sent_ns
        for ns in (time_ns, sent_ns):
            if not 0 <= ns < 2**63:
                raise InputError(f'time: expected nanoseconds from 0 to 2**63, got {ns}')
        with self._lock:
            self._index.setdefault(channel, []).append(
                _INDEX_ENTRY.pack(time_ns, len(self._chunk))
            )
            size = _MESSAGE_FIELDS + len(data)
            self._chunk += _MESSAGE.pack(
                Opcode.MESSAGE, size, channel, self._counts[channel], time_ns, sent_ns
            )
            self._chunk += data
            self._counts[channel] += 1
            self._chunk_first = min(self._chunk_first, time_ns)
            self._chunk_last = max(self._chunk_last, time_ns)

    @property
    def pending(self) -> int:
        """Bytes that are not on the disk yet."""
        return len(self._chunk)

    # ---------------------------------------------------------------- writing

    def flush(self) -> None:
        """Write what is pending as one chunk, then the file's index and footer.

        Raises
        ------
        ParallelDynamicsError
            If that cannot be done. The file is as it was before; what is pending is kept.
        """
        with self._flushing:
            with self._lock:
                if self._closed or not self._index:
                    return
                chunk, index = bytes(self._chunk), self._index
                first, last = self._chunk_first, self._chunk_last
                # Of the same moment as the chunk: the index must not count what comes after it.
                now = (list(self._schemas), list(self._channels), dict(self._counts))
                self._start_chunk()
            # Compression and writing happen outside the lock: whoever records does not wait.
            data = zstandard.compress(chunk, 1)
            body = _record(
                records.Chunk('zstd', data, last, first, zlib.crc32(chunk), len(chunk))
            )
            length = len(body)
            offsets: dict[int, int] = {}
            for channel, entries in index.items():
                offsets[channel] = self._end + len(body)
                body += _message_index(channel, entries)
            entry = _record(
                records.ChunkIndex(
                    chunk_length=length,
                    chunk_start_offset=self._end,
                    compression='zstd',
                    compressed_size=len(data),
                    message_end_time=last,
                    message_index_length=len(body) - length,
                    message_index_offsets=offsets,
                    message_start_time=first,
                    uncompressed_size=len(chunk),
                )
            )
            old, end = self._written, self._end + len(body)
            begin = min(old.first, first) if old.chunks else first
            new = _Summary(*now, [*old.chunks, entry], begin, max(old.last, last))
            try:
                _write_all(self._file, body + self._tail(end, new), self._end)
            except OSError as error:
                self._take_back(chunk, index, first, last)
                raise self._failure(error) from None
            self._end, self._written = end, new

    def _take_back(
        self, chunk: bytes, index: dict[int, list[bytes]], first: int, last: int
    ) -> None:
        """Make the file whole again, and a chunk pending that could not be written."""
        tail = self._tail(self._end, self._written)
        with contextlib.suppress(OSError):
            # Over what is there: this place in the file is ours, however full the disk is.
            _write_all(self._file, tail, self._end)
            os.ftruncate(self._file, self._end + len(tail))
        with self._lock:
            for channel, entries in self._index.items():
                later = [_INDEX_ENTRY.unpack(entry) for entry in entries]
                index.setdefault(channel, []).extend(
                    _INDEX_ENTRY.pack(time_ns, place + len(chunk)) for time_ns, place in later
                )
            self._chunk[:0], self._index = chunk, index
            self._chunk_first = min(self._chunk_first, first)
            self._chunk_last = max(self._chunk_last, last)

    def _failure(self, error: OSError) -> ParallelDynamicsError:
        return ParallelDynamicsError(
            f'{self.path}: the recording cannot go on ({error.strerror}); what is in the file so '
            'far is kept'
        )

    def close(self) -> None:
        """Write what is pending and close the file; a second call does nothing.

        Raises ParallelDynamicsError where that cannot be written; the file is closed all the same.
        """
        try:
            self.flush()
        finally:
            with self._flushing, self._lock:
                if not self._closed:
                    self._closed = True
                    self._let_go()

    def _let_go(self) -> None:
        try:
            try:
                os.fsync(self._file)
            finally:
                os.close(self._file)
        except OSError as error:
            raise self._failure(error) from None

    def _start_chunk(self) -> None:
        self._chunk = bytearray()
        self._index = {}
        self._chunk_first, self._chunk_last = 2**63, 0

    def _tail(self, start: int, summary: _Summary) -> bytes:
        """Return everything that follows the data section, which ends at ``start``."""
        data_end = _record(records.DataEnd(0))
        statistics = _record(
            records.Statistics(
                attachment_count=0,
                channel_count=len(summary.channels),
                channel_message_counts=summary.counts,
                chunk_count=len(summary.chunks),
                message_count=sum(summary.counts.values()),
                message_end_time=summary.last,
                message_start_time=summary.first,
                metadata_count=len(self._metadata_indexes),
                schema_count=len(summary.schemas),
            )
        )
        groups = (
            (Opcode.SCHEMA, summary.schemas),
            (Opcode.CHANNEL, summary.channels),
            (Opcode.STATISTICS, [statistics]),
            (Opcode.CHUNK_INDEX, summary.chunks),
            (Opcode.METADATA_INDEX, self._metadata_indexes),
        )
        body, offsets = b'', b''
        summary_start = start + len(data_end)
        for opcode, parts in groups:
            group = b''.join(parts)
            if group:
                where = summary_start + len(body)
                offsets += _record(records.SummaryOffset(opcode, where, len(group)))
                body += group
        offset_start = summary_start + len(body)
        body += offsets
        # The checksum covers the summary and the footer up to itself.
        footer = struct.pack('<BQQQ', Opcode.FOOTER, 20, summary_start, offset_start)
        crc = zlib.crc32(footer, zlib.crc32(body))
        return data_end + body + footer + struct.pack('<I', crc) + MAGIC


def _record(record: records.McapRecord) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return bytes(builder.end())


def _message_index(channel: int, entries: list[bytes]) -> bytes:
    body = b''.join(entries)
    return (
        struct.pack('<BQHI', Opcode.MESSAGE_INDEX, 6 + len(body), channel, len(body)) + body
    )


def _write_all(file: int, data: bytes, offset: int) -> None:
    """Write at an offset; one system call unless the system itself splits it."""
    view = memoryview(data)
    while view:
        done = os.pwrite(file, view, offset)
        view, offset = view[done:], offset + done
