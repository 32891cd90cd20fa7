import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { ownerId } from '../../../protocol/s3/acl.ts';
import { type AclCalls, aclCalls, annId, ownershipDocument } from '../../../test/support/s3-api/acl-calls.ts';
import { recordKeys } from '../../objects/records/record-format.ts';
import { commitOnce } from '../../store/commits.ts';

const mayAll = [{ Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::*' }];

async function withObjects(ownership: string): Promise<AclCalls> {
  const calls = await aclCalls({ ann: mayAll });
  const { as } = calls;
  await as('root', 'PUT', '/bucket?ownershipControls', { body: ownershipDocument('ObjectWriter') });
  await as('ann', 'PUT', '/bucket/anns', { body: 'x' });
  await as('root', 'PUT', '/bucket/roots', { body: 'x' });
  await as('ann', 'POST', '/bucket/anns?uploads');
  await as('root', 'POST', '/bucket/roots?uploads');
  await as('root', 'PUT', '/bucket?ownershipControls', { body: ownershipDocument(ownership) });
  return calls;
}

const ownersIn = (body: string) => [...body.matchAll(/<Owner><ID>([^<]*)</g)].map(([, id]) => id);
const initiatorsIn = (body: string) => [...body.matchAll(/<Initiator><ID>([^<]*)</g)].map(([, id]) => id);

it.each([
  ['ListObjects', ''],
  ['ListObjectsV2', '?list-type=2&fetch-owner=true'],
  ['ListObjectVersions', '?versions'],
  ['ListMultipartUploads', '?uploads'],
])('%s names the owner that GetObjectAcl names', async (_what, query) => {
  for (const [ownership, owners] of [
    ['ObjectWriter', [annId, ownerId]],
    // ACLs do not count any more.
    ['BucketOwnerEnforced', [ownerId, ownerId]],
  ] as const) {
    const { as } = await withObjects(ownership);
    expect(ownersIn((await as('root', 'GET', `/bucket${query}`)).body)).toEqual(owners);
    expect(ownersIn((await as('root', 'GET', '/bucket/anns?acl')).body)[0]).toBe(owners[0]);
  }
});

it.each(['', '?list-type=2&fetch-owner=true', '?versions'])(
  'a damaged record does not hide the other objects from a listing, GET /bucket%s',
  async (query) => {
    const { as, records } = await withObjects('ObjectWriter');
    const key = recordKeys.object('bucket', 'anns');
    const { value } = (await records.get(key)) ?? {};
    if (value === undefined) throw new Error('there is no record of the object');
    // The head of the record is whole, and the JSON behind it is not.
    await commitOnce(records, { put: [{ key, value: value.subarray(0, -1) }] }, randomBytes);
    const { status, body } = await as('root', 'GET', `/bucket${query}`);
    expect([status, [...body.matchAll(/<Key>([^<]*)</g)].map(([, name]) => name)]).toEqual([200, ['anns', 'roots']]);
  },
);

it('ListParts names the owner of the upload', async () => {
  const { as } = await withObjects('ObjectWriter');
  const listed = (await as('root', 'GET', '/bucket?uploads&prefix=anns')).body;
  // The owner of the object need not be who began the upload.
  expect(initiatorsIn(listed)).toEqual([ownerId]);
  const id = /<UploadId>([^<]*)</.exec(listed)?.[1] ?? '';
  const { body } = await as('root', 'GET', `/bucket/anns?uploadId=${id}`);
  expect([ownersIn(body), initiatorsIn(body)]).toEqual([[annId], [ownerId]]);
});
