import { parquetMetadataAsync, parquetRead } from 'hyparquet';
import type { AsyncBuffer, Compressors, FileMetaData, RowGroup } from 'hyparquet';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { SourceRecord } from '../evaluate/record.ts';
import { Struct, type Value } from '../evaluate/values.ts';
import { type ByteSource, readRange } from './byte-source.ts';
import { checkPages, codecs } from './parquet-pages.ts';
import { type PhysicalFile, physicalFile } from './parquet-schema.ts';
import { type Convert, converterOf, physicalParsers } from './parquet-values.ts';

/** Bytes of the columns that are read of a row group, compressed and not. */
const maxGroupBytes = 256 * 1_024 * 1_024;
const maxMetadataBytes = 16 * 1_024 * 1_024;
const maxGroupRows = 8_388_608;
/** Rows that are decoded at a time, where all columns are flat: the library decodes nested ones from the beginning each time. */
const sliceRows = 65_536;

interface ParquetRead {
  /** The columns that are read, in lower case; undefined for all. */
  readonly columns: ReadonlySet<string> | undefined;
  /** Row groups that begin in these bytes are read; `end` is exclusive. */
  readonly bounds: { readonly start: number; readonly end: number };
  /** Called before the decompression of each page with the size of the page in bytes. What it throws ends the query. */
  readonly onPage: (bytes: number) => void;
}

/**
 * Yields the rows of a Parquet file in batches. It holds one row group at a time.
 *
 * @throws S3Error ParquetParsingError, ParquetUnsupportedCompressionCodec, OverMaxParquetBlockSize, and what the source throws
 */
export async function* readParquet(source: ByteSource, read: ParquetRead): AsyncGenerator<Iterable<SourceRecord>> {
  if (source.size < 12) throw new S3Error('ParquetParsingError', 'The object is too small for a Parquet file.');
  const raw = await metadataOf(source);
  const file = await parsing(() => physicalFile(raw));
  const { metadata } = file;
  const columns = await parsing(() => columnsOf(file, read.columns));
  const keys = columns.map(({ key }) => key);
  const decoder = { metadata, keys, compressors: codecs(read.onPage) };
  let first = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    if (rows !== 0 && (await parsing(() => isWithin(group, read.bounds)))) {
      const bytes = await parsing(() => loadGroup(source, group, keys));
      const slice = columns.every(({ isFlat }) => isFlat) ? sliceRows : rows;
      for (let at = 0; at < rows; at += slice) {
        const range = { rowStart: first + at, rowEnd: first + Math.min(at + slice, rows) };
        yield recordsOf(await decode(bytes, decoder, range), columns);
      }
    }
    first += rows;
  }
}

interface Column {
  readonly name: string;
  /** The name that the library knows. */
  readonly key: string;
  readonly isFlat: boolean;
  readonly convert: Convert;
}

function columnsOf({ columns: all }: PhysicalFile, wanted: ParquetRead['columns']): readonly Column[] {
  const selected = all.filter(({ name }) => wanted?.has(name.toLowerCase()) ?? true);
  // Without a column there still are rows, e.g. for COUNT(*).
  const counted = selected.length > 0 ? undefined : all.slice(0, 1);
  return (counted ?? selected).map(({ name, key, position, schema }) => ({
    name,
    key,
    isFlat: schema.children.length === 0,
    convert: counted === undefined ? converterOf(schema, position) : () => null,
  }));
}

function* recordsOf(rows: readonly (readonly unknown[])[], columns: readonly Column[]): Generator<SourceRecord> {
  const names = columns.map(({ name }) => name);
  for (const row of rows) {
    let values: readonly Value[];
    try {
      values = columns.map(({ convert }, at) => convert(row[at]));
    } catch (error) {
      throw parsingError(error);
    }
    yield { kind: 'value', value: new Struct(names, values) };
  }
}

async function metadataOf(source: ByteSource): Promise<FileMetaData> {
  const file: AsyncBuffer = {
    byteLength: source.size,
    async slice(start, end = source.size) {
      if (end - start > maxMetadataBytes)
        throw new S3Error('OverMaxParquetBlockSize', 'The metadata of the Parquet file is too large.');
      return (await readRange(source, start, end)).buffer;
    },
  };
  const metadata = await parsing(() => parquetMetadataAsync(file, { geoparquet: false, initialFetchSize: 65_536 }));
  if (metadata.schema.length > 10_000) throw new S3Error('OverMaxColumn');
  return metadata;
}

function isWithin({ columns }: RowGroup, bounds: ParquetRead['bounds']): boolean {
  const starts = columns.map(({ meta_data: data }) =>
    Number(data?.dictionary_page_offset ?? data?.data_page_offset ?? 0),
  );
  const start = Math.min(...starts.slice(0, 1_000));
  return start >= bounds.start && start < bounds.end;
}

/** Reads the columns of a row group, and checks their pages. */
async function loadGroup(source: ByteSource, group: RowGroup, keys: readonly string[]): Promise<AsyncBuffer> {
  if (!(Number(group.num_rows) >= 0 && Number(group.num_rows) <= maxGroupRows))
    throw new S3Error('OverMaxParquetBlockSize');
  const chunks: { readonly start: number; readonly bytes: Buffer<ArrayBuffer> }[] = [];
  const wanted = new Set(keys);
  let total = 0;
  let expanded = 0;
  for (const { meta_data: data } of group.columns) {
    const [key] = data?.path_in_schema ?? [];
    if (data === undefined || key === undefined || !wanted.has(key)) continue;
    const start = Number(data.dictionary_page_offset ?? data.data_page_offset);
    const size = Number(data.total_compressed_size);
    total += Math.max(size, Number(data.total_uncompressed_size));
    if (!(total <= maxGroupBytes)) throw new S3Error('OverMaxParquetBlockSize');
    if (!(start >= 0 && size >= 0 && start + size <= source.size)) {
      throw new S3Error('ParquetParsingError', 'A column of the Parquet file is out of its bounds.');
    }
    const bytes = await readRange(source, start, start + size);
    const { values, uncompressed } = checkPages(bytes);
    expanded += uncompressed;
    if (expanded > maxGroupBytes) throw new S3Error('OverMaxParquetBlockSize');
    if (values < Number(group.num_rows)) {
      throw new S3Error(
        'ParquetParsingError',
        `A row group of the Parquet file has ${String(group.num_rows)} rows, and one of its columns ${values} values.`,
      );
    }
    chunks.push({ start, bytes });
  }
  return {
    byteLength: source.size,
    // The library joins the ranges of columns that are close to each other. It does not look at what is between them.
    slice: (start, end = source.size) => {
      if (!(end - start <= maxGroupBytes)) throw new S3Error('OverMaxParquetBlockSize');
      const whole = Buffer.alloc(end - start);
      for (const chunk of chunks) {
        const from = Math.max(start, chunk.start);
        const to = Math.min(end, chunk.start + chunk.bytes.length);
        if (from < to) chunk.bytes.copy(whole, from - start, from - chunk.start, to - chunk.start);
      }
      return whole.buffer;
    },
  };
}

interface Decoder {
  readonly metadata: FileMetaData;
  readonly keys: readonly string[];
  readonly compressors: Compressors;
}

/** Decodes rows: the values of the columns in the order of `keys`. */
function decode(
  file: AsyncBuffer,
  { metadata, keys, compressors }: Decoder,
  range: { readonly rowStart: number; readonly rowEnd: number },
): Promise<readonly (readonly unknown[])[]> {
  return parsing(
    () =>
      new Promise((resolve, reject) => {
        parquetRead({
          file,
          metadata,
          columns: [...keys],
          compressors,
          parsers: physicalParsers,
          utf8: false,
          geoparquet: false,
          onComplete: resolve,
          ...range,
        }).catch(reject);
      }),
  );
}

/** Runs what reads a file. The library fails with errors of any kind for a damaged one. */
async function parsing<T>(run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw parsingError(error);
  }
}

function parsingError(error: unknown): unknown {
  if (error instanceof S3Error || (error instanceof Error && error.name === 'SourceError')) return error;
  const why = error instanceof Error ? error.message.slice(0, 200) : 'unknown';
  return new S3Error('ParquetParsingError', `The Parquet file cannot be read: ${why}`, { cause: error });
}
