import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { SelectCounts } from '../answer/event-stream.ts';
import { recordsIn } from '../evaluate/query-evaluator.ts';
import type { SourceRecord } from '../evaluate/record.ts';
import type { SelectRequest } from '../select-request.ts';
import type { Query } from '../sql/query.ts';
import type { ByteSource } from './byte-source.ts';
import { type CsvInput, CsvReader } from './csv-reader.ts';
import { type Compression, decompress } from './decompress.ts';
import { JsonDocumentReader, JsonLinesReader } from './json-reader.ts';
import type { Value } from '../evaluate/values.ts';
import { scanBounds, scanRecords } from './scan-range.ts';

/** The parts of its source that a query reads. */
interface Wanted {
  readonly path: Query['from']['path'];
  /** See `columnsRead`. */
  readonly columns: ReadonlySet<string> | undefined;
}

/** Bytes of text that are parsed at a time: a reader begins again with the record that was not complete. */
const batchBytes = 256 * 1_024;

/**
 * Yields the records of a source in batches.
 *
 * @throws S3Error of the format
 */
export async function* readRecords(
  { input, range }: SelectRequest,
  { path, columns }: Wanted,
  source: ByteSource,
  counts: SelectCounts,
  maxDecompressed: number,
): AsyncGenerator<Iterable<SourceRecord>> {
  if (path.length > 0 && input.kind !== 'json') {
    throw new S3Error('InvalidKeyPath', 'Only JSON has a path in FROM.');
  }
  const bounds = scanBounds(range, source.size);
  switch (input.kind) {
    case 'csv': {
      const bytes =
        range === undefined
          ? within(maxDecompressed, decompress(source.open(0, source.size), input.compression), input.compression)
          : scanRecords(source, bounds, Buffer.from(input.csv.recordDelimiter));
      const names = input.csv.header === 'USE' && bounds.start > 0 ? await readNames(source, input.csv) : undefined;
      return yield* readCsv(texts(bytes, counts), input.csv, bounds.start > 0, names);
    }
    case 'json': {
      const bytes =
        range === undefined
          ? within(maxDecompressed, decompress(source.open(0, source.size), input.compression), input.compression)
          : scanRecords(source, bounds, Buffer.from('\n'));
      const isDocument = input.type === 'DOCUMENT';
      const unwraps = isDocument && path[0] === '*';
      const reader = isDocument ? new JsonDocumentReader(unwraps) : new JsonLinesReader();
      for await (const { text, last } of texts(bytes, counts)) {
        yield valuesOf(reader.read(text, last), unwraps ? path.slice(1) : path);
      }
      return;
    }
    case 'parquet': {
      const { readParquet } = await import('./parquet-reader.ts');
      let expanded = 0;
      const onPage = (bytes: number): void => {
        expanded += bytes;
        requireSize(expanded, maxDecompressed);
      };
      yield* readParquet(source, { columns, bounds, onPage });
      counts.processed = counts.scanned;
      return;
    }
    default:
      return input satisfies never;
  }
}

/** Ends a source that expands to more than it may. */
async function* within(max: number, bytes: AsyncIterable<Buffer>, compression: Compression): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (compression !== 'NONE') requireSize(size, max);
    yield chunk;
  }
}

function requireSize(size: number, max: number): void {
  if (size <= max) return;
  throw new S3Error(
    'OverMaxDecompressedSize',
    `The object expands to more than ${max} bytes, which is as much as a query may read of one (SVC_API_SELECT_DECOMPRESSED). Store it in parts, or without compression.`,
  );
}

function* valuesOf(values: Iterable<Value>, path: Query['from']['path']): Generator<SourceRecord> {
  for (const value of values) {
    if (path.length === 0) yield { kind: 'value', value };
    else for (const one of recordsIn(value, path)) yield { kind: 'value', value: one };
  }
}

/** Reads the first record of the object, which a range may not have. */
async function readNames(source: ByteSource, csv: CsvInput): Promise<readonly string[]> {
  const reader = new CsvReader(csv);
  const nothing: SelectCounts = { scanned: 0, processed: 0, returned: 0 };
  for await (const { text, last } of texts(source.open(0, source.size), nothing)) {
    for (const fields of reader.read(text, last)) return fields;
  }
  return [];
}

async function* readCsv(
  parts: AsyncIterable<TextPart>,
  csv: CsvInput,
  isAfterHeader: boolean,
  known: readonly string[] | undefined,
): AsyncGenerator<Iterable<SourceRecord>> {
  const reader = new CsvReader(csv);
  let names = known;
  let hasHeader = csv.header !== 'NONE' && !isAfterHeader;
  function* records(text: string, last: boolean): Generator<SourceRecord> {
    for (const fields of reader.read(text, last)) {
      if (hasHeader) {
        hasHeader = false;
        if (csv.header === 'USE') names = fields;
      } else yield { kind: 'fields', fields, names };
    }
  }
  for await (const { text, last } of parts) yield records(text, last);
}

interface TextPart {
  readonly text: string;
  /** There is no more. */
  readonly last: boolean;
}

/** Decodes UTF-8, and joins small chunks. */
async function* texts(bytes: AsyncIterable<Buffer>, counts: SelectCounts): AsyncGenerator<TextPart> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (part: Buffer, last: boolean): string => {
    try {
      return decoder.decode(part, { stream: !last });
    } catch {
      throw new S3Error('InvalidTextEncoding', 'Invalid encoding type: the object is not valid UTF-8.');
    }
  };
  let chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    counts.processed += chunk.length;
    chunks.push(chunk);
    size += chunk.length;
    if (size < batchBytes) continue;
    yield { text: decode(Buffer.concat(chunks), false), last: false };
    chunks = [];
    size = 0;
  }
  yield { text: decode(Buffer.concat(chunks), true), last: true };
}
