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
MAX_PAGE_BYTES = 2**28  # of a page of a parquet file, unpacked
MAX_CELLS = 2**24  # of a row group of a small parquet file; a large one may have more
MAX_CELLS_PER_BYTE = 64
MAX_EXPANSION = 1_000  # times the size of a large row group, unpacked

SAMPLE_ROWS = 100  # of a table from which its columns are guessed
SAMPLE_LINES = 100_000  # of the table in which these rows are looked for
MAX_NAME_LENGTH = 60  # characters in the name of a column; longer cells are no header
# Bytes of a line or of a file that is one document, and characters of a field. Nothing longer is a
# document: a line was never broken, or a field has lost its closing quote and swallows the file.
MAX_DOCUMENT_LENGTH = 2**25

HEAD_BYTES = 2**16  # of a file from which its format is guessed
MAGIC_BYTES = 16  # of a file from which its compression is guessed
BUFFER_BYTES = 2**15  # of a file, plain or unpacked, that are checked at once
CHUNK_CHARACTERS = 2**18  # of a file whose encoding is tested
CHUNK_BYTES = 2**20  # of a file whose checksum is computed

MAX_QUOTED = 60  # characters of a value that an error quotes
MAX_LISTED = 10  # names that an error lists
