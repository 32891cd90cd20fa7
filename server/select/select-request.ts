import { S3Error, type S3ErrorCode } from '../../protocol/s3/s3-error.ts';
import { checkChildren, child, readXml, textOf, type XmlNode } from '../../protocol/s3/xml-reader.ts';
import type { CsvInput } from './read/csv-reader.ts';
import type { Compression } from './read/decompress.ts';

/** The source of a query. */
export type SelectInput =
  | { readonly kind: 'csv'; readonly csv: CsvInput; readonly compression: Compression }
  | { readonly kind: 'json'; readonly type: 'LINES' | 'DOCUMENT'; readonly compression: Compression }
  | { readonly kind: 'parquet' };

/** The form of the result. */
export type SelectOutput =
  | {
      readonly kind: 'csv';
      readonly alwaysQuotes: boolean;
      readonly recordDelimiter: string;
      readonly fieldDelimiter: string;
      readonly quote: string;
      readonly escape: string;
    }
  | { readonly kind: 'json'; readonly recordDelimiter: string };

/** A request of SelectObjectContent. */
export interface SelectRequest {
  readonly expression: string;
  readonly input: SelectInput;
  readonly output: SelectOutput;
  readonly progress: boolean;
  /** Bytes of the object: records that start in them are read. `end` is inclusive. Without `start` it counts from the end of the object. */
  readonly range: { readonly start?: number; readonly end?: number } | undefined;
}

/** Bytes of a request: an expression of 256 KiB, each character of which may be escaped as `&quot;`. */
export const maxSelectDocument = 2 * 1_024 * 1_024;

/**
 * Reads the document of a request. Elements that S3 does not define are refused: the caller would believe that they count.
 *
 * @throws S3Error MalformedXML, and those of the parameters
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_SelectObjectContent.html
 */
export function parseSelectRequest(document: Buffer): SelectRequest {
  if (document.length === 0) throw new S3Error('EmptyRequestBody');
  const root = readXml(document, { maxBytes: maxSelectDocument, maxElements: 100, root: 'SelectObjectContentRequest' });
  checkChildren(root, [
    'Expression',
    'ExpressionType',
    'RequestProgress',
    'InputSerialization',
    'OutputSerialization',
    'ScanRange',
  ]);
  const expression = textOf(root, 'Expression');
  if (expression === undefined || expression.trim() === '') throw missing('Expression');
  const type = textOf(root, 'ExpressionType');
  if (type === undefined) throw missing('ExpressionType');
  if (type.toUpperCase() !== 'SQL') throw new S3Error('InvalidExpressionType');
  const input = parseInput(required(root, 'InputSerialization'));
  const progress = child(root, 'RequestProgress');
  if (progress !== undefined) checkChildren(progress, ['Enabled']);
  return {
    expression,
    input,
    output: parseOutput(required(root, 'OutputSerialization')),
    progress: progress !== undefined && flag(progress, 'Enabled'),
    range: parseRange(child(root, 'ScanRange'), input),
  };
}

function missing(name: string): S3Error {
  return new S3Error('MissingRequiredParameter', `The SelectRequest entity is missing the required parameter ${name}.`);
}

function required(node: XmlNode, name: string): XmlNode {
  const found = child(node, name);
  if (found === undefined) throw missing(name);
  return found;
}

function flag(node: XmlNode, name: string): boolean {
  return choice(node, name, ['FALSE', 'TRUE'], 'InvalidRequestParameter') === 'TRUE';
}

/** Returns the value of an element, in upper case; the first choice without the element. */
function choice<T extends string>(node: XmlNode, name: string, choices: readonly [T, ...T[]], code: S3ErrorCode): T {
  const text = textOf(node, name)?.trim().toUpperCase();
  if (text === undefined || text === '') return choices[0];
  const found = choices.find((one) => one === text);
  if (found === undefined) throw new S3Error(code);
  return found;
}

function parseInput(node: XmlNode): SelectInput {
  checkChildren(node, ['CompressionType', 'CSV', 'JSON', 'Parquet']);
  const compression = choice(node, 'CompressionType', ['NONE', 'GZIP', 'BZIP2', 'ZSTD'], 'InvalidCompressionFormat');
  const [format, ...more] = node.children.filter(({ name }) => name !== 'CompressionType');
  if (format === undefined || more.length > 0) throw new S3Error('ObjectSerializationConflict');
  if (format.name === 'CSV') return { kind: 'csv', csv: parseCsv(format), compression };
  if (format.name === 'JSON') {
    checkChildren(format, ['Type']);
    if (textOf(format, 'Type') === undefined) throw missing('Type');
    return { kind: 'json', type: choice(format, 'Type', ['LINES', 'DOCUMENT'], 'InvalidJsonType'), compression };
  }
  checkChildren(format, []);
  if (compression !== 'NONE') {
    throw new S3Error(
      'InvalidCompressionFormat',
      'Parquet is compressed within the file: CompressionType must be NONE.',
    );
  }
  return { kind: 'parquet' };
}

function parseCsv(node: XmlNode): CsvInput {
  checkChildren(node, [
    'FileHeaderInfo',
    'Comments',
    'QuoteEscapeCharacter',
    'RecordDelimiter',
    'FieldDelimiter',
    'QuoteCharacter',
    'AllowQuotedRecordDelimiter',
  ]);
  return {
    header: choice(node, 'FileHeaderInfo', ['NONE', 'USE', 'IGNORE'], 'InvalidFileHeaderInfo'),
    ...parseDelimiters(node),
    comment: characters(node, 'Comments', '#', 0, 1),
    quotedDelimiters: flag(node, 'AllowQuotedRecordDelimiter'),
  };
}

function parseDelimiters(node: XmlNode) {
  const recordDelimiter = characters(node, 'RecordDelimiter', '\n', 1, 2);
  const fieldDelimiter = characters(node, 'FieldDelimiter', ',', 1, 1);
  const quote = characters(node, 'QuoteCharacter', '"', 0, 1);
  const escape = characters(node, 'QuoteEscapeCharacter', '"', 0, 1);
  if (
    recordDelimiter.includes(fieldDelimiter) ||
    quote === fieldDelimiter ||
    (quote !== '' && recordDelimiter.includes(quote))
  ) {
    throw new S3Error('InvalidRequestParameter', 'The delimiters and the quote of CSV must differ.');
  }
  return { recordDelimiter, fieldDelimiter, quote, escape };
}

/** Returns the text of an element with a number of characters; the standard one without the element. */
function characters(node: XmlNode, name: string, standard: string, min: number, max: number): string {
  const text = textOf(node, name);
  if (text === undefined) return standard;
  const count = Array.from(text).length;
  if (count >= min && count <= max) return text;
  throw new S3Error('InvalidRequestParameter', `${name} has ${count} characters, and takes ${min} to ${max}.`);
}

function parseOutput(node: XmlNode): SelectOutput {
  checkChildren(node, ['CSV', 'JSON']);
  const [format, ...more] = node.children;
  if (format === undefined || more.length > 0) throw new S3Error('ObjectSerializationConflict');
  if (format.name === 'JSON') {
    checkChildren(format, ['RecordDelimiter']);
    return { kind: 'json', recordDelimiter: characters(format, 'RecordDelimiter', '\n', 0, 2) };
  }
  checkChildren(format, ['QuoteFields', 'QuoteEscapeCharacter', 'RecordDelimiter', 'FieldDelimiter', 'QuoteCharacter']);
  const alwaysQuotes = choice(format, 'QuoteFields', ['ASNEEDED', 'ALWAYS'], 'InvalidQuoteFields') === 'ALWAYS';
  return { kind: 'csv', alwaysQuotes, ...parseDelimiters(format) };
}

function parseRange(node: XmlNode | undefined, input: SelectInput): SelectRequest['range'] {
  if (node === undefined) return undefined;
  checkChildren(node, ['Start', 'End']);
  const start = position(node, 'Start');
  const end = position(node, 'End');
  if ((start === undefined && end === undefined) || (start !== undefined && end !== undefined && end < start)) {
    throw new S3Error('InvalidScanRange');
  }
  const unsplittable =
    (input.kind !== 'parquet' && input.compression !== 'NONE') ||
    (input.kind === 'json' && input.type === 'DOCUMENT') ||
    (input.kind === 'csv' && input.csv.quotedDelimiters);
  if (unsplittable) {
    throw new S3Error(
      'InvalidScanRange',
      'A ScanRange needs Parquet, or CSV without quoted delimiters or JSON lines that are not compressed.',
    );
  }
  return { ...(start !== undefined && { start }), ...(end !== undefined && { end }) };
}

function position(node: XmlNode, name: string): number | undefined {
  const text = textOf(node, name)?.trim();
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,15}$/.test(text)) throw new S3Error('InvalidScanRange');
  return Number(text);
}
