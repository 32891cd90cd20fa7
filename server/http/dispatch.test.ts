import { describe, expect, it } from 'vitest';
import type { IncomingRequest } from '../access/incoming-request.ts';
import { createDispatch } from './dispatch.ts';
import type { Readiness } from './health.ts';
import { NotServing } from './not-serving.ts';

const done = () => Promise.resolve({ status: 200, headers: {}, body: { kind: 'empty' } } as const);

function statusOf(rawPath: string, readiness: Readiness): Promise<number | 'refused'> {
  const dispatch = createDispatch({
    readiness: () => readiness,
    rooms: () => ({ s3: done, sts: done, admin: done }),
    metrics: done,
  });
  const request = {
    requestId: '1',
    method: 'GET',
    rawPath,
    rawQuery: '',
    headers: {},
    secure: false,
    remoteAddress: '',
  };
  return dispatch({ ...request, body: {} as IncomingRequest['body'] }).then(
    ({ status }) => status,
    (error: unknown) => {
      if (error instanceof NotServing) return 'refused';
      throw error;
    },
  );
}

const cases: readonly [Readiness, object][] = [
  [
    { kind: 'waiting', reason: 'the key service' },
    { live: 200, ready: 503, s3: 'refused' },
  ],
  // A probe that another thread answered may have let clients come.
  [{ kind: 'serving' }, { live: 200, ready: 503, s3: 200 }],
  [{ kind: 'ready' }, { live: 200, ready: 200, s3: 200 }],
  [{ kind: 'stopping' }, { live: 200, ready: 503, s3: 200 }],
  [{ kind: 'refusing' }, { live: 200, ready: 503, s3: 'refused' }],
];

describe('probes and requests', () => {
  it.each(cases)('of a server in state %j', async (readiness, expected) => {
    expect({
      live: await statusOf('/minio/health/live', readiness),
      ready: await statusOf('/minio/health/ready', readiness),
      s3: await statusOf('/bucket/key', readiness),
    }).toEqual(expected);
  });
});
