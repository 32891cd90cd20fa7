import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';
import type { Answer, Condition, State, Register } from './operation.ts';

export interface S3RegisterOptions {
  /** `http://HOST:PORT` of one server. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

interface Reply {
  readonly status: number;
  readonly etag: string | undefined;
  readonly body: Buffer;
}

/** Objects of a bucket as registers, over one connection that is kept. Each request is sent once. */
export function s3Register(options: S3RegisterOptions): Register & { close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { host, hostname, port } = new URL(options.endpoint);

  async function ask(
    method: string,
    key: string,
    headers: Record<string, string>,
    body?: Buffer,
  ): Promise<Reply | undefined> {
    const path = `/${options.bucket}/${key}`;
    const length: Record<string, string> = body === undefined ? {} : { 'content-length': String(body.length) };
    const own = { host, ...length, ...headers };
    const signed = signRequest({ method, rawPath: path, rawQuery: '', headers: own }, options, {
      region: 'us-east-1',
      service: 's3',
      now: new Date(),
      payloadHash: 'UNSIGNED-PAYLOAD',
    });
    try {
      return await new Promise<Reply>((resolve, reject) => {
        const outgoing = request(
          { agent, hostname, port, method, path, headers: { ...own, ...signed } },
          (incoming) => {
            buffer(incoming).then(
              (bytes) => resolve({ status: incoming.statusCode ?? 0, etag: incoming.headers.etag, body: bytes }),
              reject,
            );
          },
        );
        outgoing.on('error', reject);
        outgoing.end(body);
      });
    } catch {
      return undefined;
    }
  }

  return {
    async get(key) {
      const reply = await ask('GET', key, {});
      if (reply === undefined || reply.status >= 500) return 'unknown';
      if (reply.status === 404) return { shown: undefined };
      return { shown: shownBy(reply) };
    },
    async put(key, value, condition) {
      const reply = await ask('PUT', key, conditionHeaders(condition), bodyOf(value));
      return answerOf(reply, condition);
    },
    async delete(key) {
      const reply = await ask('DELETE', key, {});
      if (reply === undefined || reply.status >= 500) return 'unknown';
      if (reply.status !== 204) throw new Error(`DELETE ${key} was answered ${reply.status}: ${String(reply.body)}`);
      return 'done';
    },
    close: () => agent.destroy(),
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
function shownBy({ status, etag, body }: Reply): State {
  const value = body.subarray(0, body.indexOf('\n')).toString();
  if (status === 200 && etag === etagOf(body) && body.equals(bodyOf(value))) return value;
  return `not a value: status ${status}, ${body.length} bytes under ETag ${etag ?? 'none'}, beginning with ${value.slice(0, 80)}`;
}

const LARGE = 200_000;

/** Most are small enough for a record; one in fifty becomes a blob. Each byte depends on the value. */
function bodyOf(value: string): Buffer {
  const seed = createHash('md5').update(value).digest();
  const size = seed.readUInt8(0) < 5 ? LARGE : 64 + (seed.readUInt16LE(1) % 4_000);
  return Buffer.concat([Buffer.from(`${value}\n`), Buffer.alloc(size, seed)]);
}

function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}
