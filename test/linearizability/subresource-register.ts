import { createHash } from 'node:crypto';
import type { Register } from './operation.ts';
import { type Reply, type S3RegisterOptions, s3Requests } from './s3-requests.ts';

/** A part of an object that can hold a value. */
interface Subresource {
  readonly query: string;
  readonly document: (value: string | undefined) => string;
  readonly valueOf: (document: string) => string | undefined;
}

const tagging: Subresource = {
  query: 'tagging',
  document: (value) => `<Tagging><TagSet><Tag><Key>value</Key><Value>${value}</Value></Tag></TagSet></Tagging>`,
  valueOf: (document) => /<Value>(.*)<\/Value>/.exec(document)?.[1],
};

/** In less than 100 years, and later than any test. */
const FIRST_DATE = Date.UTC(2100, 0, 1);
/** The date of the retention that stands for each value, in milliseconds since 1970: a retention holds nothing else. */
const dates = new Map<string, number>();
const values = new Map<number, string>();

function dateOf(value: string): number {
  const date = dates.get(value) ?? FIRST_DATE + dates.size * 1_000;
  dates.set(value, date);
  values.set(date, value);
  return date;
}

const retention: Subresource = {
  query: 'retention',
  document(value) {
    if (value === undefined) return '<Retention/>';
    const date = new Date(dateOf(value)).toISOString();
    return `<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>${date}</RetainUntilDate></Retention>`;
  },
  valueOf(document) {
    const date = /<RetainUntilDate>(.*)<\/RetainUntilDate>/.exec(document)?.[1];
    return date === undefined ? undefined : values.get(Date.parse(date));
  },
};

/**
 * The tags of an object as a register, and its retention as another: a key ends with a number, of which every second one is a retention.
 * Both are in one record, so that a lost update of one by the other shows as an older value. The bucket has object lock.
 */
export function subresourceRegister(options: S3RegisterOptions): Register & { close(): void } {
  const { send, close } = s3Requests(options);
  const made = new Set<string>();

  async function ask(method: string, registerKey: string, document?: string): Promise<Reply | undefined> {
    const { object, subresource } = placeOf(registerKey);
    const { query } = subresource;
    if (!made.has(object)) {
      const reply = await send('PUT', object, { headers: { 'if-none-match': '*' }, body: Buffer.from(object) });
      if (reply === undefined || reply.status === 503) return undefined;
      made.add(object);
    }
    const body = document === undefined ? undefined : Buffer.from(document);
    const headers: Record<string, string> = {
      ...(body && { 'content-md5': createHash('md5').update(body).digest('base64') }),
      ...(subresource === retention && method === 'PUT' && { 'x-amz-bypass-governance-retention': 'true' }),
    };
    const reply = await send(method, object, { query, headers, ...(body && { body }) });
    return reply === undefined || reply.status === 503 ? undefined : reply;
  }

  return {
    conditional: false,
    async get(key) {
      const reply = await ask('GET', key);
      if (reply === undefined) return 'unknown';
      if (reply.status === 404 && String(reply.body).includes('NoSuchObjectLockConfiguration'))
        return { shown: undefined };
      if (reply.status !== 200) throw new Error(`GET ${key} was answered ${reply.status}: ${String(reply.body)}`);
      return { shown: placeOf(key).subresource.valueOf(String(reply.body)) };
    },
    async put(key, value) {
      const reply = await ask('PUT', key, placeOf(key).subresource.document(value));
      if (reply === undefined) return 'unknown';
      if (reply.status !== 200) throw new Error(`PUT ${key} was answered ${reply.status}: ${String(reply.body)}`);
      return 'done';
    },
    async delete(key) {
      const { subresource } = placeOf(key);
      const isTagging = subresource === tagging;
      const reply = await ask(
        isTagging ? 'DELETE' : 'PUT',
        key,
        isTagging ? undefined : subresource.document(undefined),
      );
      if (reply === undefined) return 'unknown';
      if (reply.status !== (isTagging ? 204 : 200)) {
        throw new Error(`DELETE ${key} was answered ${reply.status}: ${String(reply.body)}`);
      }
      return 'done';
    },
    close,
  };
}

function placeOf(key: string): { readonly object: string; readonly subresource: Subresource } {
  const at = key.lastIndexOf('/');
  const number = Number(key.slice(at + 1));
  return { object: `${key.slice(0, at)}/${number >> 1}`, subresource: number % 2 === 0 ? tagging : retention };
}
