import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Client } from './client.ts';
import { delayBefore, isPassing } from './retry.ts';

export interface ObjectRange {
  readonly bucket: string;
  readonly key: string;
  /** The content must still be this one. '' asks for no such thing. */
  readonly etag: string;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

const mostFailures = 6;

/**
 * The bytes of a range of an object. A connection that breaks off is taken up again where it broke, with the same content
 * assured by its ETag; only failures without any progress between them count.
 */
export async function* readObject(client: S3Client, range: ObjectRange): AsyncGenerator<Buffer, void, undefined> {
  let at = range.start;
  let failures = 0;
  while (at < range.end) {
    const from = at;
    try {
      const { status, body } = await client.send({
        method: 'GET',
        bucket: range.bucket,
        key: range.key,
        headers: {
          range: `bytes=${at}-${range.end - 1}`,
          ...(range.etag === '' ? {} : { 'if-match': `"${range.etag}"` }),
        },
      });
      if (status !== 206 && at > 0) {
        body.destroy();
        throw new Error('The server does not answer with ranges of objects');
      }
      for await (const bytes of body as AsyncIterable<Buffer>) {
        at += bytes.length;
        if (at > range.end) throw new Error(`The server sent more bytes of \`${range.key}\` than asked for`);
        yield bytes;
      }
      if (at < range.end) throw brokenOff();
    } catch (error) {
      failures = at > from ? 1 : failures + 1;
      if (failures >= mostFailures || client.signal.aborted || !isPassing(error)) throw error;
      await sleep(delayBefore(failures), undefined, { signal: client.signal });
    }
  }
}

function brokenOff(): Error {
  return Object.assign(new Error('The connection broke off amid the object'), { code: 'ECONNRESET' });
}
