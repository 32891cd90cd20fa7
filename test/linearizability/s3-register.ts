import { createHash } from 'node:crypto';
import type { Answer, Condition, State, Register } from './operation.ts';
import { type Reply, type S3RegisterOptions, s3Requests } from './s3-requests.ts';

/** Is called with each acknowledged write and its version; the value of a delete marker is undefined. */
type OnVersion = (key: string, value: State, versionId: string) => void;

/** Objects of a bucket as registers, over one connection that is kept. Each request is sent once. */
export function s3Register(options: S3RegisterOptions, onVersion?: OnVersion): Register & { close(): void } {
  const { send, close } = s3Requests(options);
  const created = (key: string, value: State, reply: Reply | undefined) => {
    const id = reply?.headers['x-amz-version-id'];
    if (typeof id === 'string') onVersion?.(key, value, id);
  };

  return {
    async get(key) {
      const reply = await send('GET', key);
      if (reply === undefined || reply.status >= 500) return 'unknown';
      if (reply.status === 404) return { shown: undefined };
      return { shown: shownBy(reply) };
    },
    async put(key, value, condition) {
      const reply = await send('PUT', key, { headers: conditionHeaders(condition), body: bodyOf(value) });
      const answer = answerOf(reply, condition);
      if (answer === 'done') created(key, value, reply);
      return answer;
    },
    async delete(key) {
      const reply = await send('DELETE', key);
      if (reply === undefined || reply.status >= 500) return 'unknown';
      if (reply.status !== 204) throw new Error(`DELETE ${key} was answered ${reply.status}: ${String(reply.body)}`);
      created(key, undefined, reply);
      return 'done';
    },
    close,
  };
}

function conditionHeaders(condition: Condition): Record<string, string> {
  if (condition.kind === 'absent') return { 'if-none-match': '*' };
  return condition.kind === 'holds' ? { 'if-match': etagOf(bodyOf(condition.value)) } : {};
}

function answerOf(reply: Reply | undefined, condition: Condition): Answer {
  if (reply === undefined || reply.status >= 500) return 'unknown';
  if (reply.status === 200) return 'done';
  if (condition.kind !== 'none' && reply.status === 412) return 'refused';
  // If-Match where there is nothing.
  if (condition.kind === 'holds' && reply.status === 404) return 'refused';
  throw new Error(`PUT was answered ${reply.status}: ${String(reply.body)}`);
}

/** The value whose body this is. Anything else than the whole body under its own ETag is an answer that no order explains. */
function shownBy({ status, headers: { etag }, body }: Reply): State {
  const value = body.subarray(0, body.indexOf('\n')).toString();
  if (status === 200 && etag === etagOf(body) && body.equals(bodyOf(value))) return value;
  return `not a value: status ${status}, ${body.length} bytes under ETag ${etag ?? 'none'}, beginning with ${value.slice(0, 80)}`;
}

const LARGE = 200_000;

/** Most are small enough for a record; one in fifty becomes a blob. Each byte depends on the value. */
export function bodyOf(value: string): Buffer {
  const seed = createHash('md5').update(value).digest();
  const size = seed.readUInt8(0) < 5 ? LARGE : 64 + (seed.readUInt16LE(1) % 4_000);
  return Buffer.concat([Buffer.from(`${value}\n`), Buffer.alloc(size, seed)]);
}

export function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}
