import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keptChunks } from '../../streams/chunks.ts';
import type { OpenAnswer } from '../target-client.ts';
import { ProxiedBody } from './proxied-body.ts';

const chunks = ['one', 'two', 'three'].map((text) => Buffer.from(text));
const SHA256 = createHash('sha256').update(Buffer.concat(chunks)).digest('base64');

function answer(status: number, headers: Record<string, string>): OpenAnswer & { discarded: number } {
  const made = {
    status,
    headers,
    discarded: 0,
    chunks: (async function* () {
      await Promise.resolve();
      yield* chunks;
    })(),
    whole: () => Promise.reject(new Error('the body is read in chunks')),
    discard: () => Promise.resolve(void (made.discarded += 1)),
  };
  return made;
}

async function read(body: ProxiedBody): Promise<{ readonly text: string; readonly error?: string }> {
  let text = '';
  try {
    for await (const chunk of keptChunks(body)) text += chunk.toString();
    return { text };
  } catch (error) {
    return { text, error: String(error) };
  }
}

describe('the body of another server', () => {
  it.each([
    ['the right checksum', 200, { 'x-amz-checksum-sha256': SHA256 }],
    ['no checksum', 200, {}],
    ['a checksum of checksums', 200, { 'x-amz-checksum-sha256': 'AAAA-2', 'x-amz-checksum-type': 'COMPOSITE' }],
    ['the checksum of the whole object on a range', 206, { 'x-amz-checksum-sha256': 'AAAA' }],
  ])('is passed on with %s', async (_what, status, headers) => {
    let ended = 0;
    const from = answer(status, headers);
    const body = new ProxiedBody(from, () => (ended += 1));
    expect(await read(body)).toEqual({ text: 'onetwothree' });
    await body.close();
    expect([from.discarded, ended]).toEqual([1, 1]);
  });

  it('ends before its last chunk where the checksum is another', async () => {
    const wrong = createHash('sha256').update('others').digest('base64');
    const body = new ProxiedBody(answer(200, { 'x-amz-checksum-sha256': wrong }), () => undefined);
    const { text, error } = await read(body);
    expect(text).toBe('onetwo');
    expect(error).toContain(`have the SHA256 ${SHA256}, and not ${wrong}`);
  });

  it('that nobody read is discarded', async () => {
    const from = answer(200, {});
    await new ProxiedBody(from, () => undefined).close();
    expect(from.discarded).toBe(1);
  });
});
