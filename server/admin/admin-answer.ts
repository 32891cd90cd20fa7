import { encryptPayload } from '../../protocol/admin/payload-encryption.ts';
import type { Answer } from '../access/answer.ts';
import { secretOf } from './admin-call.ts';
import { jsonLines } from './json-lines.ts';
import type { AdminAnswer, AdminCall } from './route.ts';

/** From what a call answers to what is sent. */
export async function toAnswer(call: AdminCall, answer: AdminAnswer): Promise<Answer> {
  switch (answer.kind) {
    case 'none':
      return { status: answer.status ?? 200, headers: answer.headers ?? {}, body: { kind: 'empty' } };
    case 'json':
      return bytes(Buffer.from(JSON.stringify(answer.value)), 'application/json', answer.headers);
    case 'sealed': {
      const secret = await secretOf(call.services, call.principal);
      return bytes(await encryptPayload(secret, Buffer.from(answer.value)), 'application/octet-stream', answer.headers);
    }
    case 'bytes':
      return bytes(answer.bytes, answer.contentType);
    case 'lines': {
      const { lines } = answer;
      const { stopping } = call.services;
      const ended = (gone: AbortSignal) => (stopping === undefined ? gone : AbortSignal.any([gone, stopping]));
      return {
        status: 200,
        headers: { 'content-type': 'application/x-ndjson' },
        body: { kind: 'endless', pieces: (gone) => jsonLines(lines(ended(gone))) },
      };
    }
    default:
      return answer satisfies never;
  }
}

function bytes(content: Buffer, contentType: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 200, headers: { 'content-type': contentType, ...headers }, body: { kind: 'bytes', bytes: content } };
}
