import { beforeEach, describe, expect, it } from 'vitest';
import { testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';
import type { ProxiedAnswer, ProxiedRead } from '../../objects/replication/proxied-read.ts';

/** The server that has the object. */
let there: TestCalls;
let here: TestCalls;
let asked: ProxiedRead[];
/** The actions that the caller lacks here. */
let denied: string[];

const unused = () => Promise.reject(new Error('the test does not use it'));

beforeEach(async () => {
  [asked, denied] = [[], []];
  there = await testCalls();
  here = await testCalls({
    authorize: ({ action }) => !denied.includes(action),
    replications: {
      put: unused,
      remove: unused,
      metrics: unused,
      startResync: unused,
      resyncs: unused,
      cancelResync: unused,
      waitFor: () => Promise.resolve(),
      readTagsElsewhere: unused,
      readElsewhere: async (read) => {
        asked.push(read);
        return answerOfTarget(read);
      },
    },
  });
  const headers = {
    'content-type': 'text/plain',
    'cache-control': 'no-cache',
    'x-amz-meta-colour': 'red',
    'x-amz-tagging': 'team=red&cost=1',
    'x-amz-checksum-crc32': '6Le+Qw==',
  };
  await there.call('PUT', '/bucket/key', { body: 'a', headers });
  await there.call('PUT', '/bucket/plain', { body: 'a' });
});

async function answerOfTarget({ method, bucket, key, headers }: ProxiedRead): Promise<ProxiedAnswer | undefined> {
  const answer = await there.call(method, `/${bucket}/${key}`, {
    headers: { ...headers, 'x-amz-checksum-mode': 'ENABLED' },
  });
  if (answer.status !== 200) return undefined;
  const chunks = [Buffer.from(answer.body)];
  const body = {
    ownership: 'own' as const,
    next: () => Promise.resolve(chunks.shift()),
    close: () => Promise.resolve(),
  };
  return { status: 200, headers: answer.headers, code: undefined, size: 1, body: method === 'GET' ? body : undefined };
}

describe('a read that another server answers', () => {
  it.each([
    ['GET', {}],
    ['HEAD', {}],
    ['GET', { 'x-amz-checksum-mode': 'ENABLED' }],
    ['GET', { 'x-amz-tagging-directive': 'ACCESS' }],
    ['HEAD', { 'x-amz-tagging-directive': 'ACCESS' }],
  ])('has the headers of a server that has the object: %s with %j', async (method, headers) => {
    for (const key of ['key', 'plain']) {
      const [own, passedOn] = [there, here].map((server) => server.call(method, `/bucket/${key}`, { headers }));
      expect((await passedOn)?.headers).toEqual((await own)?.headers);
    }
  });

  it('asks for the tags for a caller who wants them, and for no other', async () => {
    await here.call('GET', '/bucket/key', { headers: { 'x-amz-tagging-directive': 'ACCESS' } });
    await here.call('GET', '/bucket/key');
    expect(asked.map(({ headers }) => headers)).toEqual([{ 'x-amz-tagging-directive': 'ACCESS' }, {}]);
  });

  it('shows the tags and their count to those alone who may read tags', async () => {
    denied = ['s3:GetObjectTagging'];
    const { headers } = await here.call('GET', '/bucket/key', { headers: { 'x-amz-tagging-directive': 'ACCESS' } });
    expect(Object.keys(headers).filter((name) => name.startsWith('x-amz-tagging'))).toEqual([]);
  });
});
