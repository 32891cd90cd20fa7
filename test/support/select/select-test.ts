import { crc32 } from 'node:zlib';
import type { ByteSource } from '../../../server/select/read/byte-source.ts';
import { defaultQueryBudget } from '../../../server/select/query-budget.ts';
import { runSelect } from '../../../server/select/run-select.ts';
import type { SelectInput, SelectOutput, SelectRequest } from '../../../server/select/select-request.ts';

export const csvInput: Extract<SelectInput, { kind: 'csv' }> = {
  kind: 'csv',
  compression: 'NONE',
  csv: {
    header: 'USE',
    recordDelimiter: '\n',
    fieldDelimiter: ',',
    quote: '"',
    escape: '"',
    comment: '#',
    quotedDelimiters: false,
  },
};
export const jsonLines: SelectInput = { kind: 'json', type: 'LINES', compression: 'NONE' };
export const jsonDocument: SelectInput = { kind: 'json', type: 'DOCUMENT', compression: 'NONE' };
export const csvOutput: Extract<SelectOutput, { kind: 'csv' }> = {
  kind: 'csv',
  alwaysQuotes: false,
  recordDelimiter: '\n',
  fieldDelimiter: ',',
  quote: '"',
  escape: '"',
};
export const jsonOutput: SelectOutput = { kind: 'json', recordDelimiter: '\n' };

/** A source of bytes in memory, in chunks of `chunk` bytes. */
export function sourceOf(bytes: Buffer, chunk = 65_536): ByteSource {
  return {
    size: bytes.length,
    async *open(start, end) {
      for (let at = start; at < end; at += chunk) yield bytes.subarray(at, Math.min(at + chunk, end));
    },
  };
}

export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Buffer;
}

/** Decodes messages of an event stream, and checks their checksums. */
export function decodeMessages(stream: Buffer): Message[] {
  const messages: Message[] = [];
  for (let at = 0; at < stream.length;) {
    const length = stream.readUInt32BE(at);
    const headersEnd = at + 12 + stream.readUInt32BE(at + 4);
    if (crc32(stream.subarray(at, at + 8)) !== stream.readUInt32BE(at + 8)) throw new Error('prelude checksum');
    const end = at + length - 4;
    if (crc32(stream.subarray(at, end)) !== stream.readUInt32BE(end)) throw new Error('message checksum');
    const headers: Record<string, string> = {};
    for (let from = at + 12; from < headersEnd;) {
      const nameEnd = from + 1 + stream.readUInt8(from);
      const valueEnd = nameEnd + 3 + stream.readUInt16BE(nameEnd + 1);
      headers[stream.toString('utf8', from + 1, nameEnd)] = stream.toString('utf8', nameEnd + 3, valueEnd);
      from = valueEnd;
    }
    messages.push({ headers, payload: stream.subarray(headersEnd, end) });
    at += length;
  }
  return messages;
}

/** Runs a query, and returns its messages. */
export async function messagesOf(
  bytes: Buffer,
  request: Partial<SelectRequest> & { expression: string },
  chunk?: number,
  budget = defaultQueryBudget,
  processorMs = () => 0,
) {
  const parts: Buffer[] = [];
  const whole = { input: csvInput, output: csvOutput, progress: false, range: undefined, ...request };
  const clock = { now: new Date('2026-01-02T03:04:05.006Z'), elapsed: () => 0, processorMs };
  for await (const message of runSelect(whole, sourceOf(bytes, chunk), clock, budget)) parts.push(message);
  return decodeMessages(Buffer.concat(parts));
}

/**
 * Runs a query, and returns the records of its result.
 *
 * @throws S3Error of the query, and Error with the code of an error message
 */
export async function select(
  bytes: Buffer | string,
  request: Partial<SelectRequest> & { expression: string },
  chunk?: number,
  budget = defaultQueryBudget,
  processorMs = () => 0,
): Promise<string> {
  const messages = await messagesOf(Buffer.from(bytes), request, chunk, budget, processorMs);
  const last = messages.at(-1)?.headers;
  if (last?.[':message-type'] === 'error') throw new Error(last[':error-code']);
  if (last?.[':event-type'] !== 'End') throw new Error('the stream has no end');
  return messages
    .filter(({ headers }) => headers[':event-type'] === 'Records')
    .map(({ payload }) => payload.toString())
    .join('');
}
