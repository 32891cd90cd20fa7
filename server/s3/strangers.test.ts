import { describe, expect, it } from 'vitest';
import { everyRequest } from '../../test/support/s3-api/sign-every-way.ts';
import { type CallOptions, testCalls } from '../../test/support/s3-api/s3-calls.ts';

const denied = await testCalls({ authorize: () => false });
await denied.layer.createBucket('source', { location: '' });

/** Headers of which one names another bucket, and bodies that no parser would take. */
const headers = { 'content-type': 'multipart/form-data; boundary=b' };
const body = '<'.repeat(1_000);

async function answersOf(method: string, path: string, query: Readonly<Record<string, string>>, more: CallOptions) {
  const search = Object.entries(query)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  const { status, code, refusal, bytesRead } = await denied.call(method, `${path}?${search}`, more);
  return { status, code, bytesRead, refusal: refusal.replaceAll(/<(Resource|BucketName)>[^<]*/g, '<$1>') };
}

describe('a caller who may do nothing', () => {
  it.each(everyRequest)('learns the same of a bucket that exists and of one that does not: %s', async (_, request) => {
    const { method, path, query } = request;
    const send = (bucket: string) => {
      const copy = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, value.replace('/bucket/', `/${bucket}/`)]),
      );
      return answersOf(method, path.replace('/bucket', `/${bucket}`), query, {
        headers: { ...headers, ...copy },
        body,
      });
    };
    const [there, absent] = [await send('bucket'), await send('missing')];
    expect(there).toEqual(absent);
    expect(there).toMatchObject({ status: 403, code: 'AccessDenied', bytesRead: 0 });
  });
});
