import { parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet';
import type { AsyncBuffer, Compressors, FileMetaData, RowGroup, SchemaTree } from 'hyparquet';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { SourceRecord } from '../evaluate/record.ts';
import type { Value } from '../evaluate/values.ts';
import { type ByteSource, readRange } from './byte-source.ts';
import { checkPages, codecs } from './parquet-pages.ts';
import { type Convert, converterOf, timeParsers } from './parquet-values.ts';

/** Bytes of the columns that are read of a row group, compressed and not. */
const maxGroupBytes = 256 * 1_024 * 1_024;
const maxMetadataBytes = 16 * 1_024 * 1_024;
const maxGroupRows = 8_388_608;
/** Levels of structs and lists. The work for a column grows with the square of them. Writers use a few levels. */
const maxDepth = 100;
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
  const metadata = await metadataOf(source);
  const columns = await parsing(() => columnsOf(metadata, read.columns));
  const names = columns.map(({ name }) => name);
  const decoder = { metadata, names, compressors: codecs(read.onPage) };
  let first = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    if (rows !== 0 && (await parsing(() => isWithin(group, read.bounds)))) {
      const file = await parsing(() => loadGroup(source, group, names));
      const slice = columns.every(({ isFlat }) => isFlat) ? sliceRows : rows;
      for (let at = 0; at < rows; at += slice) {
        const range = { rowStart: first + at, rowEnd: first + Math.min(at + slice, rows) };
        yield recordsOf(await decode(file, decoder, range), columns);
      }
    }
    first += rows;
  }
}

interface Column {
  readonly name: string;
  readonly isFlat: boolean;
  readonly convert: Convert;
}

function columnsOf(metadata: FileMetaData, wanted: ParquetRead['columns']): readonly Column[] {
  const all = parquetSchema(metadata).children;
  requireDepth(all, maxDepth);
  if (all.length === 0) throw new S3Error('ParquetParsingError', 'The Parquet file has no columns.');
  const selected = all.filter(({ element }) => wanted?.has(element.name.toLowerCase()) ?? true);
  // Without a column there still are rows, e.g. for COUNT(*).
  return (selected.length > 0 ? selected : all.slice(0, 1)).map((column) => ({
    name: column.element.name,
    isFlat: column.children.length === 0,
    convert: converterOf(column),
  }));
}

function requireDepth(nodes: readonly SchemaTree[], levels: number): void {
  if (levels === 0) {
    throw new S3Error('OverMaxColumn', `A column of the Parquet file is nested more deeply than ${maxDepth} levels.`);
  }
  for (const { children } of nodes) if (children.length > 0) requireDepth(children, levels - 1);
}

function* recordsOf(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly Column[],
): Generator<SourceRecord> {
  for (const row of rows) {
    const value: Record<string, Value> = {};
    try {
      for (const { name, convert } of columns) value[name] = convert(row[name]);
    } catch (error) {
      throw parsingError(error);
    }
    yield { kind: 'value', value, exact: true };
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
async function loadGroup(source: ByteSource, group: RowGroup, names: readonly string[]): Promise<AsyncBuffer> {
  if (!(Number(group.num_rows) >= 0 && Number(group.num_rows) <= maxGroupRows))
    throw new S3Error('OverMaxParquetBlockSize');
  const chunks: { readonly start: number; readonly bytes: Buffer<ArrayBuffer> }[] = [];
  let total = 0;
  let expanded = 0;
  for (const { meta_data: data } of group.columns) {
    const [name] = data?.path_in_schema ?? [];
    if (data === undefined || name === undefined || !names.includes(name)) continue;
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
        `A row group of the Parquet file has ${String(group.num_rows)} rows, and its column "${name}" ${values} values.`,
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

function decode(
  file: AsyncBuffer,
  {
    metadata,
    names,
    compressors,
  }: { readonly metadata: FileMetaData; readonly names: readonly string[]; readonly compressors: Compressors },
  range: { readonly rowStart: number; readonly rowEnd: number },
): Promise<readonly Record<string, unknown>[]> {
  return parsing(() =>
    parquetReadObjects({
      file,
      metadata,
      columns: [...names],
      compressors,
      parsers: timeParsers,
      geoparquet: false,
      ...range,
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
