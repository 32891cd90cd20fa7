import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { snappyUncompress, type Compressors } from 'hyparquet';
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import { S3Error } from '../../../protocol/s3/s3-error.ts';

/** Bytes of a page. Writers make pages of 1 MiB, and larger ones of a dictionary. */
const maxPageBytes = 64 * 1_024 * 1_024;
/** Values of a page, and of a column of a row group. */
const maxPageValues = 8_388_608;
const maxChunkValues = 33_554_432;
/** The encoding DELTA_BYTE_ARRAY repeats the beginning of each value: a page of 1 MiB may expand to terabytes. */
const deltaByteArray = 7;

/** The sums of the headers of the pages of a column. */
interface PageTotals {
  /** Values of the rows, nulls included. Those of a dictionary do not count. */
  readonly values: number;
  /** Bytes of the pages after their decompression. */
  readonly uncompressed: number;
}

/**
 * Checks the headers of the pages of a column before the library decodes it: it believes the sizes in them, and makes arrays of those.
 *
 * @throws S3Error ParquetParsingError, OverMaxParquetBlockSize, UnsupportedParquetType
 */
export function checkPages(chunk: Buffer): PageTotals {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
  const reader = { view, offset: 0 };
  let values = 0;
  let uncompressed = 0;
  while (reader.offset < view.byteLength - 1) {
    const header = deserializeTCompactProtocol(reader) as Readonly<Record<string, unknown>>;
    const compressed = sizeOf(header['field_3']);
    const page = (header['field_5'] ?? header['field_7'] ?? header['field_8']) as
      Readonly<Record<string, unknown>> | undefined;
    const count = sizeOf(page?.['field_1'] ?? 0);
    const size = sizeOf(header['field_2']);
    if (size > maxPageBytes || count > maxPageValues) throw new S3Error('OverMaxParquetBlockSize');
    if (page?.[header['field_8'] === undefined ? 'field_2' : 'field_4'] === deltaByteArray) {
      throw new S3Error('UnsupportedParquetType', 'The encoding DELTA_BYTE_ARRAY of Parquet is not supported.');
    }
    if (header['field_7'] === undefined) values += count;
    uncompressed += size;
    reader.offset += compressed;
    if (reader.offset > view.byteLength)
      throw new S3Error('ParquetParsingError', 'A page of the Parquet file is truncated.');
  }
  if (values > maxChunkValues) throw new S3Error('OverMaxParquetBlockSize');
  return { values, uncompressed };
}

function sizeOf(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new S3Error('ParquetParsingError', 'The header of a page of the Parquet file is not valid.');
}

function bounded(decompress: (input: Uint8Array, options: { maxOutputLength: number }) => Buffer) {
  return (input: Uint8Array, length: number): Uint8Array => {
    const output = decompress(input, { maxOutputLength: Math.max(length, 1) });
    if (output.length !== length)
      throw new S3Error('ParquetParsingError', 'A page of the Parquet file has another size.');
    // The library reads the page as the whole of its buffer.
    return new Uint8Array(output);
  };
}

function unsupported(name: string) {
  return (): never => {
    throw new S3Error('ParquetUnsupportedCompressionCodec', `The Parquet compression codec ${name} is not supported.`);
  };
}

/** Decompresses a page by snappy into as many bytes as its header says. */
function snappy(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  snappyUncompress(input, output);
  return output;
}

/** Returns the codecs of pages. `onPage` gets the size of each page before its decompression. AWS reads GZIP and SNAPPY. */
export function codecs(onPage: (bytes: number) => void): Compressors {
  const counted = (decompress: (input: Uint8Array, length: number) => Uint8Array) => {
    return (input: Uint8Array, length: number): Uint8Array => {
      onPage(length);
      return decompress(input, length);
    };
  };
  return {
    SNAPPY: counted(snappy),
    GZIP: counted(bounded(gunzipSync)),
    BROTLI: counted(bounded(brotliDecompressSync)),
    ZSTD: counted(bounded(zstdDecompressSync)),
    LZ4: unsupported('LZ4'),
    LZ4_RAW: unsupported('LZ4_RAW'),
    LZO: unsupported('LZO'),
  };
}
