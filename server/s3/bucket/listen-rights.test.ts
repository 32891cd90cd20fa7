import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { testLayer } from '../../../test/support/objects/test-layer.ts';
import { incomingRequest } from '../../../test/support/s3-api/s3-calls.ts';
import type { Answer } from '../../http/contract/request.ts';
import type { AccessRequest, Principal, StoredCredentials } from '../../auth/principal.ts';
import { CrossOrigin } from '../cross-origin.ts';
import { createS3Api } from '../s3-api.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const ann = { kind: 'user', accessKey: 'ann', subject: { kind: 'user', name: 'ann' } } as const;

/** Someone who listens, with the events that never come. */
async function listening(target: string, principal: Principal = ann) {
  const { layer } = testLayer();
  await layer.createBucket('bucket', { location: '' });
  const state = { credentials: true, allowed: true };
  const asked: AccessRequest[] = [];
  const known: StoredCredentials = { accessKey: 'ann', secretKey: 'secret', principal };
  const api = createS3Api({
    objects: layer,
    region: '',
    clock: () => new Date(),
    crossOrigin: new CrossOrigin(layer, []),
    authenticate: ({ body }) => Promise.resolve({ principal, body, size: 0 }),
    authenticateForm: () => Promise.resolve(undefined),
    access: {
      credentials: () => Promise.resolve(state.credentials ? known : undefined),
      authorize: (request) => {
        asked.push(request);
        return Promise.resolve({ kind: state.allowed ? 'allow' : 'deny', reason: 'the test says so' });
      },
    },
    listenedEvents: () =>
      async function* (gone) {
        await new Promise<void>((resolve) => gone.addEventListener('abort', () => resolve()));
        yield* [];
      },
  });
  const { body } = await api(incomingRequest('GET', target, { headers: { 'user-agent': 'listener' } }));
  return { state, asked, next: piecesOf(body).next() };
}

function piecesOf(body: Answer['body']): AsyncIterator<Buffer> {
  if (body.kind !== 'endless') throw new Error(`the answer is ${body.kind}`);
  return body.chunks(new AbortController().signal)[Symbol.asyncIterator]();
}

it.each([
  ['/bucket?events=s3%3AObjectCreated%3A%2A', 's3:ListenBucketNotification', 'bucket'],
  ['/?events=s3%3AObjectCreated%3A%2A', 's3:ListenNotification', ''],
])('a listener of %s is asked for its right again, and loses the events with it', async (target, action, resource) => {
  const { state, asked, next } = await listening(target);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked.length).toBe(3);
  expect(asked.at(-1)).toMatchObject({ action, resource, principal: ann, context: { 'aws:UserAgent': ['listener'] } });
  state.allowed = false;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await next).toMatchObject({ done: true });
});

it('a listener loses the events with its credentials', async () => {
  const { state, next } = await listening('/bucket?events=s3%3AObjectCreated%3A%2A');
  state.credentials = false;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await next).toMatchObject({ done: true });
});

it('a listener without credentials loses the events with the policy of the bucket', async () => {
  const { state, next } = await listening('/bucket?events=s3%3AObjectCreated%3A%2A', { kind: 'anonymous' });
  state.credentials = false;
  await vi.advanceTimersByTimeAsync(5_000);
  state.allowed = false;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await next).toMatchObject({ done: true });
});
