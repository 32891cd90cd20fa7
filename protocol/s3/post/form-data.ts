import { isUtf8 } from 'node:buffer';
import { S3Error } from '../s3-error.ts';

/** A step of a form: its fields in order, then its file. Fields after the file are left out, as S3 ignores them. */
export type FormStep =
  | { readonly kind: 'field'; readonly name: string; readonly value: string }
  /** The content of the file follows. `filename` is undefined where the part names none. */
  | { readonly kind: 'file'; readonly filename: string | undefined }
  | { readonly kind: 'data'; readonly bytes: Buffer };

/** The limits of a form in bytes. */
interface FormLimits {
  /** Names and values of the fields before the file. */
  readonly fields: number;
  /** Everything before the content of the file, and everything after it. */
  readonly around: number;
}

/** The limit of AWS for the fields, and a bound for their markup. */
const defaultLimits: FormLimits = { fields: 20_480, around: 64 * 1_024 };

/**
 * Reads the boundary from a content type of multipart/form-data.
 *
 * @throws S3Error PreconditionFailed for another content type, MalformedPOSTRequest without a valid boundary, both as S3 answers
 * @see https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1
 */
export function formBoundary(contentType: string | undefined): string {
  const [type = '', ...parameters] = (contentType ?? '').split(';');
  if (type.trim().toLowerCase() !== 'multipart/form-data') {
    throw new S3Error('PreconditionFailed', undefined, {
      details: { Condition: 'Bucket POST must be of the enclosure-type multipart/form-data' },
    });
  }
  for (const parameter of parameters) {
    const [name = '', ...rest] = parameter.split('=');
    if (name.trim().toLowerCase() !== 'boundary') continue;
    const value = rest.join('=').trim();
    const boundary = /^"(.*)"$/.exec(value)?.[1] ?? value;
    if (/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary)) return boundary;
  }
  throw malformedForm();
}

/**
 * Parses the body of a form in one pass. A consumer that stops after the step `file` leaves the file unread.
 *
 * @throws S3Error MalformedPOSTRequest, MaxPostPreDataLengthExceeded, InvalidArgument without a file, IncorrectNumberOfFilesInPostRequest
 * with a second one
 * @see https://www.rfc-editor.org/rfc/rfc7578
 */
export async function* formSteps(
  chunks: AsyncIterable<Buffer>,
  boundary: string,
  limits: FormLimits = defaultLimits,
): AsyncGenerator<FormStep> {
  const source = chunks[Symbol.asyncIterator]();
  try {
    yield* readSteps(new FormInput(source, limits.around), boundary, limits);
  } finally {
    // The source stops where the consumer stops.
    await source.return?.();
  }
}

async function* readSteps(input: FormInput, boundary: string, limits: FormLimits): AsyncGenerator<FormStep> {
  // The line break before the dashes belongs to the delimiter. The first delimiter gets the one that it has not.
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  // Some clients send a line break first.
  if ((await input.until(delimiter)).toString('latin1').trim() !== '') throw malformedForm();
  input.tooLarge = fieldsTooLarge;
  let fieldBytes = 0;
  let file = false;
  while (!(await isLast(input))) {
    const { name, filename } = readPartHeaders(await input.until(headersEnd));
    if (name.toLowerCase() === 'file') {
      if (file) throw wrongNumberOfFiles('IncorrectNumberOfFilesInPostRequest', 2);
      file = true;
      yield { kind: 'file', filename };
      for await (const bytes of input.chunksUntil(delimiter)) yield { kind: 'data', bytes };
      input.tooLarge = malformedForm;
      continue;
    }
    const value = await input.until(delimiter);
    if (file) continue;
    fieldBytes += Buffer.byteLength(name) + value.length;
    if (fieldBytes > limits.fields) throw fieldsTooLarge();
    yield { kind: 'field', name, value: decodeUtf8(value) };
  }
  if (!file) throw wrongNumberOfFiles('InvalidArgument', 0);
  await input.skipRest();
}

const headersEnd = Buffer.from('\r\n\r\n');

/** A delimiter is followed by a line break, or by two dashes after the last part. Spaces may come before both. */
async function isLast(input: FormInput): Promise<boolean> {
  for (;;) {
    const mark = await input.peekTwo();
    if (mark === '--') return true;
    // The line break may be one half of an empty line without headers.
    if (mark === '\r\n') return false;
    if (mark[0] !== ' ' && mark[0] !== '\t') throw malformedForm();
    input.skipOne();
  }
}

/** The bytes of a form that have come and were not used yet. */
class FormInput {
  /** Makes the error for a form with too many bytes around its file. */
  tooLarge: () => S3Error = malformedForm;
  readonly #chunks: AsyncIterator<Buffer>;
  /** The bytes that may still come around the file. */
  #allowed: number;
  #buffer: Buffer = Buffer.from('\r\n');
  #begin = 0;
  #end = 2;
  /** The searched text does not begin before it. */
  #searched = 0;
  /** The buffer has free space behind `#end`. Bytes before it are never written again: they may have been given away. */
  #growing = false;

  constructor(chunks: AsyncIterator<Buffer>, allowed: number) {
    this.#chunks = chunks;
    this.#allowed = allowed;
  }

  /** Returns the bytes before a text, and skips the text. */
  async until(text: Buffer): Promise<Buffer> {
    let at = this.#find(text);
    while (at < 0) {
      if (this.#end - this.#begin > this.#allowed) throw this.tooLarge();
      await this.#readMore();
      at = this.#find(text);
    }
    const bytes = this.#buffer.subarray(this.#begin, at);
    this.#allowed -= bytes.length + text.length;
    if (this.#allowed < 0) throw this.tooLarge();
    this.#skipTo(at + text.length);
    return bytes;
  }

  /** Yields the bytes before a text as they come, and skips the text. */
  async *chunksUntil(text: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#find(text);
      const end = at < 0 ? this.#searched : at;
      const bytes = this.#buffer.subarray(this.#begin, end);
      this.#skipTo(at < 0 ? end : at + text.length);
      if (bytes.length > 0) yield bytes;
      if (at >= 0) return;
      await this.#readMore();
    }
  }

  async peekTwo(): Promise<string> {
    while (this.#end - this.#begin < 2) await this.#readMore();
    return this.#buffer.toString('latin1', this.#begin, this.#begin + 2);
  }

  skipOne(): void {
    this.#allowed -= 1;
    if (this.#allowed < 0) throw this.tooLarge();
    this.#skipTo(this.#begin + 1);
  }

  /** Skips what follows the last part. */
  async skipRest(): Promise<void> {
    let bytes = this.#end - this.#begin;
    for (;;) {
      if (bytes > this.#allowed) throw malformedForm();
      const next = await this.#chunks.next();
      if (next.done === true) return;
      bytes += next.value.length;
    }
  }

  /** Looks at each byte a bounded number of times, also when bytes come one by one. */
  #find(text: Buffer): number {
    const bytes = this.#buffer.subarray(0, this.#end);
    const at = bytes.indexOf(text, this.#searched);
    if (at >= 0) return at;
    // Both texts begin with a line break: without one near the end no byte has to wait.
    const next = bytes.indexOf(0x0d, Math.max(this.#searched, this.#end - text.length + 1));
    this.#searched = next < 0 ? this.#end : next;
    return -1;
  }

  #skipTo(at: number): void {
    this.#begin = at;
    this.#searched = at;
  }

  async #readMore(): Promise<void> {
    const next = await this.#chunks.next();
    if (next.done === true) throw malformedForm();
    const chunk = next.value;
    const kept = this.#end - this.#begin;
    if (kept === 0) {
      this.#buffer = chunk;
      [this.#begin, this.#end, this.#searched, this.#growing] = [0, chunk.length, 0, false];
      return;
    }
    if (!this.#growing || this.#end + chunk.length > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(2 * (kept + chunk.length));
      this.#buffer.copy(grown, 0, this.#begin, this.#end);
      [this.#begin, this.#end, this.#searched] = [0, kept, this.#searched - this.#begin];
      [this.#buffer, this.#growing] = [grown, true];
    }
    chunk.copy(this.#buffer, this.#end);
    this.#end += chunk.length;
  }
}

/**
 * Reads the names from the headers of a part. The text begins with the line break after the delimiter.
 *
 * @throws S3Error MalformedPOSTRequest
 */
function readPartHeaders(bytes: Buffer): { readonly name: string; readonly filename: string | undefined } {
  // Pages in older encodings send names of files in theirs.
  const text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    if (line.slice(0, Math.max(colon, 0)).trim().toLowerCase() !== 'content-disposition') continue;
    const parameters = readParameters(line.slice(colon + 1));
    const name = parameters.get('name');
    if (parameters.get('') !== 'form-data' || name === undefined) break;
    // minio-go and MinIO take a file without the name of a field for a broken form.
    if (name === '' && parameters.has('filename')) break;
    return { name, filename: extendedValue(parameters.get('filename*')) ?? parameters.get('filename') };
  }
  throw malformedForm();
}

/** Reads `form-data; name="a"; filename="b"`. The type has the empty name. Backslashes stand for themselves, since browsers send paths. */
function readParameters(text: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  const type = text.split(';', 1)[0] ?? '';
  parameters.set('', type.trim().toLowerCase());
  let at = type.length + 1;
  while (at < text.length) {
    const equals = text.indexOf('=', at);
    if (equals < 0) break;
    const name = text.slice(at, equals).trim().toLowerCase();
    const quoted = text[equals + 1] === '"';
    const end = quoted ? closingQuote(text, equals + 2) : nextOrEnd(text, ';', equals);
    const value = quoted ? text.slice(equals + 2, end).replaceAll('\\"', '"') : text.slice(equals + 1, end).trim();
    if (!parameters.has(name)) parameters.set(name, value);
    at = nextOrEnd(text, ';', end) + 1;
  }
  return parameters;
}

function nextOrEnd(text: string, character: string, from: number): number {
  const at = text.indexOf(character, from);
  return at < 0 ? text.length : at;
}

/** Finds the quote that ends a value. A quote after a backslash belongs to the value, unless another parameter or nothing follows. */
function closingQuote(text: string, from: number): number {
  let at = nextOrEnd(text, '"', from);
  while (at < text.length && text[at - 1] === '\\' && !endsParameter(text, at)) at = nextOrEnd(text, '"', at + 1);
  return at;
}

/** A quote ends a value where another parameter or nothing follows: a path of Windows may end with a backslash. */
function endsParameter(text: string, quote: number): boolean {
  const rest = text.slice(quote + 1, quote + 3).trimStart();
  return rest === '' || rest.startsWith(';');
}

/** Decodes `UTF-8''a%20b`. Returns undefined for another form. */
function extendedValue(text: string | undefined): string | undefined {
  if (text === undefined || !/^utf-8'[^']*'/i.test(text)) return undefined;
  try {
    return decodeURIComponent(text.slice(text.indexOf("'", 6) + 1));
  } catch {
    return undefined;
  }
}

function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformedForm();
  return bytes.toString('utf8');
}

function malformedForm(): S3Error {
  return new S3Error('MalformedPOSTRequest');
}

function fieldsTooLarge(): S3Error {
  return new S3Error('MaxPostPreDataLengthExceeded', undefined, {
    details: { MaxPostPreDataLengthBytes: String(defaultLimits.fields) },
  });
}

function wrongNumberOfFiles(code: 'InvalidArgument' | 'IncorrectNumberOfFilesInPostRequest', files: number): S3Error {
  return new S3Error(code, 'POST requires exactly one file upload per request.', {
    details: { ArgumentName: 'file', ArgumentValue: String(files) },
  });
}
