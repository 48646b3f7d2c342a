"""Limits on what the readers hold in memory at once, and on how far they look ahead."""

from __future__ import annotations

BATCH_SIZE = 1_000  # documents in a batch of a stream, or rows in a batch that is rewritten
TABLE_BATCH_SIZE = 10_000  # documents in a batch of `read_texts`
MAX_CHARACTERS = 2_000_000  # in a batch of texts
MAX_NONZEROS = 1_000_000  # in a batch of vectors
MAX_ROW_CHARACTERS = 4_000_000  # in a batch of rows that is rewritten

ROWS_PER_SLICE = 10_000  # of a parquet file that are decoded at once
ROWS_PER_PART = 20_000  # of a parquet file that are written at once
BYTES_PER_PART = 2**25

SAMPLE_ROWS = 100  # of a table from which its columns are guessed
MAX_NAME_LENGTH = 60  # characters in the name of a column; longer cells are no header
# No document is longer: a field that is has lost its closing quote and would swallow the file.
MAX_FIELD_LENGTH = 2**27

HEAD_BYTES = 2**16  # of a file from which its format is guessed
MAGIC_BYTES = 16  # of a file from which its compression is guessed
CHUNK_CHARACTERS = 2**18  # of a file whose encoding is tested
CHUNK_BYTES = 2**20  # of a file whose checksum is computed

MAX_QUOTED = 60  # characters of a value that an error quotes
MAX_LISTED = 10  # names that an error lists
