import { expect, it } from 'vitest';
import { ownerId } from '../../../protocol/s3/acl.ts';
import { type AclCalls, aclCalls, annId, ownershipDocument } from '../../../test/support/s3-api/acl-calls.ts';

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

it('ListParts names the owner of the upload, who began it', async () => {
  const { as } = await withObjects('ObjectWriter');
  const listed = (await as('root', 'GET', '/bucket?uploads&prefix=anns')).body;
  expect(initiatorsIn(listed)).toEqual([annId]);
  const id = /<UploadId>([^<]*)</.exec(listed)?.[1] ?? '';
  const { body } = await as('root', 'GET', `/bucket/anns?uploadId=${id}`);
  expect([ownersIn(body), initiatorsIn(body)]).toEqual([[annId], [annId]]);
});
