import { expect, it } from 'vitest';
import { ResponseError } from '../../../../protocol/response-error.ts';
import { readAttributes, readMarker, type Side } from './version-attributes.ts';

const ofThisSide = { 'x-minio-source-proxy-request': 'false' };

/** A side that answers each request with `text`, and the requests that it got. */
function sideOf(text: (method: string) => Promise<{ readonly headers: object; readonly text: string }>) {
  const asked: object[] = [];
  const client = {
    text: (request: { readonly method: string; readonly headers?: object }) => {
      asked.push({ method: request.method, headers: request.headers });
      return text(request.method);
    },
  };
  return { side: { client, bucket: 'bucket', hasLocks: false } as unknown as Side, asked };
}

it('reads what this side has, and nothing that it would read from the other one', async () => {
  const { side, asked } = sideOf(() => Promise.resolve({ headers: {}, text: '<Tagging><TagSet/></Tagging>' }));
  expect(await readAttributes(side, 'key', 'version')).toMatchObject({ kind: 'read', attributes: { tags: {} } });
  expect(asked).toEqual([
    { method: 'HEAD', headers: ofThisSide },
    { method: 'GET', headers: ofThisSide },
  ]);
});

it.each([
  ['a replica', 405, { 'x-amz-replication-status': 'REPLICA' }, { kind: 'marker', status: 'REPLICA' }],
  ['one of a client', 405, {}, { kind: 'marker', status: undefined }],
  ['one that is gone', 404, {}, { kind: 'gone' }],
  ['one that it may not show', 403, {}, { kind: 'unknown', reason: 'no' }],
])('reads of a delete marker that it is %s', async (_what, status, fields, expected) => {
  const { side, asked } = sideOf(() => Promise.reject(new ResponseError('Code', 'no', { status, fields })));
  expect(await readMarker(side, 'key', 'version')).toEqual(expected);
  expect(asked).toEqual([{ method: 'HEAD', headers: ofThisSide }]);
});
