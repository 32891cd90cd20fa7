import { describe, expect, it } from 'vitest';
import { parseBatchDefinition } from './batch-definition.ts';
import { splitSecrets } from './replicate-definition.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const there = 'endpoint: "https://h:9000", credentials: {accessKey: AK, secretKey: hush, sessionToken: token}';

function job(source: string, target: string, flags = '{}'): string {
  return `replicate:\n  apiVersion: v1\n  source: {${source}} # from\n  target: {${target}}\n  flags: ${flags}\n`;
}
const parse = (text: string) => parseBatchDefinition(text, now);

describe('the definition of a job that replicates', () => {
  it('sends where the target has an endpoint', () => {
    expect(
      parse(job('type: minio, bucket: a, prefix: p', `type: s3, bucket: b, prefix: q, path: "on", ${there}`)),
    ).toEqual({
      type: 'replicate',
      direction: 'send',
      bucket: 'a',
      prefixes: ['p'],
      attempts: 3,
      delayMs: 250,
      remote: { type: 's3', bucket: 'b', endpoint: 'h:9000', secure: true, path: 'on', accessKey: 'AK' },
      targetPrefix: 'q',
      notify: undefined,
      filter: { tags: [], metadata: [] },
    });
  });

  it('fetches where the source has one', () => {
    expect(parse(job(`bucket: b, ${there}`, 'bucket: a'))).toMatchObject({
      direction: 'fetch',
      bucket: 'a',
      remote: { type: 'minio', bucket: 'b', path: 'auto' },
    });
  });

  it('takes filters, retries, a message at the end, and the snowball of MinIO', () => {
    const flags =
      '{filter: {olderThan: 7d, tags: [{key: k, value: "v*"}]}, retry: {attempts: 5, delay: 1s}, notify: {endpoint: "http://n/x", token: t}}';
    const source =
      'bucket: a, snowball: {disable: false, batch: 100, inmemory: true, compress: false, smallerThan: 256KiB, skipErrs: false}';
    expect(parse(job(source, `bucket: b, ${there}`, flags))).toMatchObject({
      attempts: 5,
      delayMs: 1_000,
      notify: { endpoint: 'http://n/x' },
      filter: { olderThanMs: 7 * 86_400_000, tags: [{ key: 'k', value: 'v*' }] },
    });
  });

  it.each([
    ['both sides are this server', 'bucket: a', 'bucket: b', 'neither source nor target has an endpoint'],
    ['both sides are others', `bucket: a, ${there}`, `bucket: b, ${there}`, 'source and target have an endpoint'],
    ['credentials are missing', 'bucket: a', 'bucket: b, endpoint: "http://h"', 'replicate.target.credentials'],
    [
      'this server gets credentials',
      'bucket: a, credentials: {accessKey: x, secretKey: y}',
      `bucket: b, ${there}`,
      'replicate.source.credentials',
    ],
    [
      'the endpoint is no URL',
      'bucket: a',
      `bucket: b, endpoint: h, credentials: {accessKey: x, secretKey: y}`,
      'replicate.target.endpoint',
    ],
    [
      'the endpoint has a path',
      'bucket: a',
      `bucket: b, endpoint: "http://h/x", credentials: {accessKey: x, secretKey: y}`,
      'it has a path',
    ],
    ['a field is unknown', 'bucket: a, typo: 1', `bucket: b, ${there}`, 'replicate.source'],
  ])('is refused where %s', (_what, source, target, message) => {
    expect(() => parse(job(source, target))).toThrow(
      expect.objectContaining({ code: 'invalid-job', message: expect.stringContaining(message) as string }) as Error,
    );
  });

  it('is split from its secrets, and reads the same without them', () => {
    const text = job('bucket: a', `bucket: b, ${there}`, '{notify: {endpoint: "http://n/", token: "Bearer hush"}}');
    const { definition, secrets } = splitSecrets(text);
    expect(secrets).toEqual({ secretKey: 'hush', sessionToken: 'token', notifyToken: 'Bearer hush' });
    expect(definition).not.toMatch(/hush|token: token/);
    expect(definition).toContain('# from');
    expect(parse(definition)).toEqual(parse(text));
  });
});
