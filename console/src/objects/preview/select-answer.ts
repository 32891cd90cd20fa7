/** Reads the answer of S3 Select, whose messages are in the framing of AWS's event streams. */
import { ResponseError } from '../../../../protocol/response-error.ts';

/**
 * Joins the payloads of the records. Checksums are not verified: the connection does that. Throws an `ResponseError` for an error that came in
 * the answer.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
 */
export function selectedText(answer: ArrayBuffer): string {
  const view = new DataView(answer);
  const text = new TextDecoder();
  let joined = '';
  for (let at = 0; at + 16 <= answer.byteLength;) {
    const [total, headerBytes] = [view.getUint32(at), view.getUint32(at + 4)];
    if (total < 16 + headerBytes || at + total > answer.byteLength) break;
    const headers = headersOf(new DataView(answer, at + 12, headerBytes));
    if (headers.get(':message-type') === 'error') {
      const code = headers.get(':error-code') ?? 'InternalError';
      throw new ResponseError(code, headers.get(':error-message') ?? code, { status: 200 });
    }
    const payload = new Uint8Array(answer, at + 12 + headerBytes, total - headerBytes - 16);
    // A record may begin in one message and end in the next, and so may a character.
    if (headers.get(':event-type') === 'Records') joined += text.decode(payload, { stream: true });
    at += total;
  }
  return joined + text.decode();
}

/** The type of a text among the types of header values. */
const textType = 7;

function headersOf(view: DataView): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const textAt = (at: number, length: number) =>
    new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + at, length));
  let at = 0;
  while (at < view.byteLength) {
    const nameLength = view.getUint8(at);
    const name = textAt(at + 1, nameLength);
    at += 1 + nameLength;
    if (view.getUint8(at) !== textType) break;
    const length = view.getUint16(at + 1);
    found.set(name, textAt(at + 3, length));
    at += 3 + length;
  }
  return found;
}

/** Makes a table of lines of JSON, with the names of the columns first, in their order. A line that is cut off is left out. */
export function tableOf(lines: string): readonly (readonly string[])[] {
  const records = lines.split('\n').flatMap((line) => {
    try {
      JSON.parse(line);
      return [new Map(fieldsOf(line))];
    } catch {
      return [];
    }
  });
  const names = [...new Set(records.flatMap((record) => [...record.keys()]))];
  return [names, ...records.map((record) => names.map((name) => record.get(name) ?? ''))];
}

/** Finds the names, and where values begin and end, of an object that is valid. */
const token = /"(?:[^"\\]|\\.)*"|[[\]{},:]/g;

/**
 * Returns the names and the values of an object as texts. `JSON.parse` would put names that are numbers first, and round long numbers.
 *
 * @param line an object of JSON
 */
function fieldsOf(line: string): (readonly [name: string, cell: string])[] {
  const fields: (readonly [string, string])[] = [];
  let depth = 0;
  let name: string | undefined;
  let start = 0;
  for (const { 0: text, index } of line.matchAll(token)) {
    const isEnd = depth === 1 && (text === ',' || text === '}');
    if (isEnd && name !== undefined) {
      fields.push([name, cellOf(line.slice(start, index).trim())]);
      name = undefined;
    }
    if (text === '{' || text === '[') depth += 1;
    else if (text === '}' || text === ']') depth -= 1;
    else if (depth === 1 && name === undefined && text.startsWith('"')) name = JSON.parse(text) as string;
    else if (depth === 1 && text === ':') start = index + 1;
  }
  return fields;
}

function cellOf(json: string): string {
  if (json === 'null') return '';
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}
