import type { Answer, AnswerBody } from '../access/answer.ts';

const empty: AnswerBody = { kind: 'empty' };

export function xmlAnswer(document: string, headers: Readonly<Record<string, string>> = {}, status = 200): Answer {
  return {
    status,
    headers: { 'content-type': 'application/xml', ...headers },
    body: { kind: 'bytes', bytes: Buffer.from(document) },
  };
}

export function emptyAnswer(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers, body: empty };
}

export function quoted(etag: string): string {
  return `"${etag}"`;
}
