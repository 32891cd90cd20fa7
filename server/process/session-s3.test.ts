import { describe, expect, it, vi } from 'vitest';
import { testLayer } from '../../test/support/objects/test-layer.ts';
import type { Access, Principal } from '../auth/principal.ts';
import { RequestEvents } from '../http/contract/request.ts';
import { createSessionS3 } from './session-s3.ts';

const principal: Principal = { kind: 'root', accessKey: 'root' };

/** Runs HeadBucket with this authorization, and returns how it ended with the finished requests that observers got. */
async function runHeadBucket(authorize: Access['authorize']) {
  const { layer } = testLayer();
  await layer.createBucket('photos', { location: '' });
  const events = new RequestEvents();
  const observer = vi.fn();
  events.subscribe(observer);
  const access = { credentials: vi.fn(), explain: vi.fn(), authorize };
  const s3 = createSessionS3({
    objects: layer,
    access,
    region: 'us-east-1',
    clock: () => new Date(0),
    auditEvents: events,
  });
  const end = await s3
    .run({
      principal,
      origin: { secure: false, remoteAddress: '192.0.2.1' },
      requestId: 'R',
      method: 'HEAD',
      bucket: 'photos',
      key: undefined,
      rawQuery: '',
      headers: {},
      body: '',
    })
    .catch((error: unknown) => error);
  return { end, finished: observer.mock.calls.map(([one]) => one as unknown) };
}

describe('an operation of a session', () => {
  it('is observed when it ends', async () => {
    const { finished } = await runHeadBucket(() =>
      Promise.resolve({ kind: 'allow', reason: 'root may do everything' }),
    );
    expect(finished).toEqual([expect.objectContaining({ operation: 'HeadBucket', bucket: 'photos', status: 200 })]);
  });

  it('is observed with its error when the server fails', async () => {
    const { end, finished } = await runHeadBucket(() => Promise.reject(new Error('the disk failed')));
    expect(end).toMatchObject({ code: 'InternalError' });
    expect(finished).toEqual([
      expect.objectContaining({
        api: 'console',
        operation: 'HeadBucket',
        status: 500,
        refusal: expect.objectContaining({ code: 'InternalError' }),
      }),
    ]);
  });
});
