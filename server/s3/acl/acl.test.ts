import { describe, expect, it } from 'vitest';
import { ownerId } from '../../../protocol/s3/acl.ts';
import {
  type AclCalls,
  aclCalls,
  annId,
  bobId,
  type Caller,
  ownershipDocument,
} from '../../../test/support/s3-api/acl-calls.ts';

const allUsers = 'http://acs.amazonaws.com/groups/global/AllUsers';
const canned = (name: string) => ({ headers: { 'x-amz-acl': name } });
const grantsOf = (body: string) =>
  [
    ...body.matchAll(
      /<(?:ID|URI)>([^<]*)<\/(?:ID|URI)>(?:<DisplayName>[^<]*<\/DisplayName>)?<\/Grantee><Permission>(\w+)/g,
    ),
  ].map(([, grantee, permission]) => `${grantee} ${permission}`);
const ownerOf = (body: string) => /<Owner><ID>([^<]*)</.exec(body)?.[1];
const document = (owner: string, ...grants: readonly (readonly [string, string])[]) =>
  `<AccessControlPolicy><Owner><ID>${owner}</ID></Owner><AccessControlList>${grants
    .map(([grantee, permission]) => {
      const named = grantee.startsWith('http') ? `<URI>${grantee}</URI>` : `<ID>${grantee}</ID>`;
      return `<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${named}</Grantee><Permission>${permission}</Permission></Grant>`;
    })
    .join('')}</AccessControlList></AccessControlPolicy>`;

/** A bucket where ACLs count. */
async function withAcls(ownership = 'ObjectWriter', policies?: Parameters<typeof aclCalls>[0]): Promise<AclCalls> {
  const calls = await aclCalls(policies);
  const body = ownershipDocument(ownership);
  expect(await calls.as('root', 'PUT', '/bucket?ownershipControls', { body })).toMatchObject({ status: 200 });
  return calls;
}

describe('ownership controls', () => {
  it('of a new bucket are BucketOwnerEnforced, or what the request asks for', async () => {
    const { as } = await aclCalls();
    await as('root', 'PUT', '/plain');
    await as('root', 'PUT', '/writers', { headers: { 'x-amz-object-ownership': 'ObjectWriter' } });
    expect((await as('root', 'GET', '/plain?ownershipControls')).body).toContain('>BucketOwnerEnforced<');
    expect((await as('root', 'GET', '/writers?ownershipControls')).body).toContain('>ObjectWriter<');
  });

  it('are removed, and ACLs do not count any more', async () => {
    const { as } = await withAcls();
    await as('root', 'PUT', '/bucket/key', canned('public-read'));
    expect(await as('stranger', 'GET', '/bucket/key')).toMatchObject({ status: 200 });
    expect(await as('root', 'DELETE', '/bucket?ownershipControls')).toMatchObject({ status: 204 });
    const missing = { status: 404, code: 'OwnershipControlsNotFoundError' };
    expect(await as('root', 'GET', '/bucket?ownershipControls')).toMatchObject(missing);
    expect(await as('stranger', 'GET', '/bucket/key')).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(grantsOf((await as('root', 'GET', '/bucket/key?acl')).body)).toEqual([`${ownerId} FULL_CONTROL`]);
    expect(await as('root', 'PUT', '/bucket/key?acl', canned('public-read'))).toMatchObject({
      status: 400,
      code: 'AccessControlListNotSupported',
    });
  });

  it.each(['PUT', 'DELETE'])('that ACLs need stay while the bucket has one: %s', async (method) => {
    const { as } = await withAcls();
    await as('root', 'PUT', '/bucket?acl', canned('public-read'));
    const body = method === 'PUT' ? ownershipDocument('BucketOwnerEnforced') : '';
    const rejected = { status: 400, code: 'InvalidBucketAclWithObjectOwnership' };
    expect(await as('root', method, '/bucket?ownershipControls', { body })).toMatchObject(rejected);
    await as('root', 'PUT', '/bucket?acl', canned('private'));
    expect((await as('root', method, '/bucket?ownershipControls', { body })).status).toBeLessThan(300);
  });

  it('need s3:PutBucketOwnershipControls, in the header of a new bucket too', async () => {
    const { as } = await aclCalls({
      ann: [{ Effect: 'Allow', Action: 's3:CreateBucket', Resource: 'arn:aws:s3:::*' }],
    });
    const ask = (name: string, ownership: string) =>
      as('ann', 'PUT', `/${name}`, { headers: { 'x-amz-object-ownership': ownership } });
    expect(await ask('one', 'ObjectWriter')).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await ask('two', 'BucketOwnerEnforced')).toMatchObject({ status: 200 });
    expect(await as('ann', 'PUT', '/two?ownershipControls', { body: 'x' })).toMatchObject({ bytesRead: 0 });
  });
});

describe('the owner of an object', () => {
  const mayPut = [{ Effect: 'Allow', Action: 's3:Put*', Resource: 'arn:aws:s3:::bucket/*' }];

  it.each<[string, string | undefined, string, readonly string[]]>([
    ['BucketOwnerEnforced', undefined, ownerId, [`${ownerId} FULL_CONTROL`]],
    ['BucketOwnerEnforced', 'bucket-owner-full-control', ownerId, [`${ownerId} FULL_CONTROL`]],
    ['BucketOwnerPreferred', undefined, annId, [`${annId} FULL_CONTROL`]],
    ['BucketOwnerPreferred', 'bucket-owner-full-control', ownerId, [`${ownerId} FULL_CONTROL`]],
    ['ObjectWriter', undefined, annId, [`${annId} FULL_CONTROL`]],
    ['ObjectWriter', 'bucket-owner-read', annId, [`${annId} FULL_CONTROL`, `${ownerId} READ`]],
    ['ObjectWriter', 'bucket-owner-full-control', annId, [`${annId} FULL_CONTROL`, `${ownerId} FULL_CONTROL`]],
  ])('with %s, put with %s', async (ownership, acl, owner, grants) => {
    const { as } = await withAcls(ownership, { ann: mayPut });
    const more = acl === undefined ? {} : canned(acl);
    expect(await as('ann', 'PUT', '/bucket/key', { ...more, body: 'x' })).toMatchObject({ status: 200 });
    const { body } = await as('root', 'GET', '/bucket/key?acl');
    expect([ownerOf(body), grantsOf(body)]).toEqual([owner, grants]);
  });

  it('may read and change its ACL without a grant', async () => {
    const { as } = await withAcls('ObjectWriter', { ann: mayPut.map((one) => ({ ...one, Action: 's3:PutObject' })) });
    await as('ann', 'PUT', '/bucket/key', { body: 'x' });
    expect(await as('ann', 'PUT', '/bucket/key?acl', { body: document(annId) })).toMatchObject({ status: 200 });
    expect(await as('ann', 'GET', '/bucket/key')).toMatchObject({ status: 403 });
    expect(grantsOf((await as('ann', 'GET', '/bucket/key?acl')).body)).toEqual([]);
    expect(await as('bob', 'GET', '/bucket/key?acl')).toMatchObject({ status: 403 });
  });

  it('sets its ACL with the upload, where the ACL of the bucket lets the caller write', async () => {
    const { as, aclReads } = await withAcls();
    await as('root', 'PUT', '/bucket/of-root', { body: 'x' });
    const put = (key: string) => as('stranger', 'PUT', `/bucket/${key}`, { ...canned('public-read'), body: 'y' });
    expect(await put('key')).toMatchObject({ status: 403 });
    await as('root', 'PUT', '/bucket?acl', canned('public-read'));
    expect(await put('key')).toMatchObject({ status: 403, code: 'AccessDenied' });
    await as('root', 'PUT', '/bucket?acl', canned('public-read-write'));
    aclReads.length = 0;
    expect(await put('key')).toMatchObject({ status: 200 });
    expect(await put('of-root')).toMatchObject({ status: 200 });
    expect(aclReads).toEqual([]);
    expect(grantsOf((await as('root', 'GET', '/bucket/key?acl')).body)).toContain(`${allUsers} READ`);
    expect(await as('stranger', 'PUT', '/bucket/key?acl', canned('public-read'))).toMatchObject({ status: 403 });
  });

  it('of a copy and of a multipart upload is the caller, and the ACL is that of the request', async () => {
    const { as } = await withAcls('ObjectWriter', {
      ann: [{ Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::*' }],
    });
    await as('root', 'PUT', '/bucket/key', { ...canned('public-read'), body: 'x' });
    await as('ann', 'PUT', '/bucket/copy', { headers: { 'x-amz-copy-source': '/bucket/key' } });
    expect(await as('stranger', 'GET', '/bucket/copy')).toMatchObject({ status: 403 });
    const { body } = await as('ann', 'POST', '/bucket/parts?uploads', canned('public-read'));
    const id = /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';
    const { headers } = await as('ann', 'PUT', `/bucket/parts?partNumber=1&uploadId=${id}`, { body: 'part' });
    const part = `<Part><PartNumber>1</PartNumber><ETag>${headers['etag'] ?? ''}</ETag></Part>`;
    await as('root', 'POST', `/bucket/parts?uploadId=${id}`, {
      body: `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`,
    });
    for (const key of ['copy', 'parts']) {
      expect(ownerOf((await as('root', 'GET', `/bucket/${key}?acl`)).body)).toBe(annId);
    }
    expect(await as('stranger', 'GET', '/bucket/parts')).toMatchObject({ status: 200, body: 'part' });
  });
});

describe('a grant', () => {
  const asks: Readonly<Record<string, readonly [method: string, target: string, body?: string]>> = {
    read: ['GET', '/bucket/key'],
    head: ['HEAD', '/bucket/key'],
    readAcl: ['GET', '/bucket/key?acl'],
    writeAcl: ['PUT', '/bucket/key?acl', document(ownerId)],
    list: ['GET', '/bucket'],
    versions: ['GET', '/bucket?versions'],
    uploads: ['GET', '/bucket?uploads'],
    put: ['PUT', '/bucket/new', 'new'],
    overwrite: ['PUT', '/bucket/key', 'new'],
    readBucketAcl: ['GET', '/bucket?acl'],
    writeBucketAcl: ['PUT', '/bucket?acl', document(ownerId)],
    delete: ['DELETE', '/bucket/key'],
    tag: ['GET', '/bucket/key?tagging'],
    policy: ['GET', '/bucket?policy'],
    remove: ['DELETE', '/bucket'],
  };

  it.each<[string, Caller, string, readonly string[]]>([
    ['key: AllUsers READ', 'stranger', 'AllUsers', ['read', 'head']],
    ['key: AllUsers READ', 'ann', 'AllUsers', ['read', 'head']],
    ['key: AuthenticatedUsers READ', 'stranger', 'AuthenticatedUsers', []],
    ['key: AuthenticatedUsers READ', 'ann', 'AuthenticatedUsers', ['read', 'head']],
    ['key: ann READ', 'ann', annId, ['read', 'head']],
    ['key: ann READ', 'bob', annId, []],
    ['key: ann WRITE', 'ann', annId, []],
    ['key: ann READ_ACP', 'ann', annId, ['readAcl']],
    ['key: ann WRITE_ACP', 'ann', annId, ['writeAcl']],
    ['key: ann FULL_CONTROL', 'ann', annId, ['read', 'head', 'readAcl', 'writeAcl']],
    ['key: LogDelivery FULL_CONTROL', 'ann', 'LogDelivery', []],
    ['bucket: AllUsers READ', 'stranger', 'AllUsers', ['list', 'versions', 'uploads']],
    ['bucket: AllUsers WRITE', 'stranger', 'AllUsers', ['put', 'overwrite']],
    ['bucket: ann READ_ACP', 'ann', annId, ['readBucketAcl']],
    ['bucket: ann WRITE_ACP', 'ann', annId, ['writeBucketAcl']],
    [
      'bucket: ann FULL_CONTROL',
      'ann',
      annId,
      ['list', 'versions', 'uploads', 'put', 'overwrite', 'readBucketAcl', 'writeBucketAcl'],
    ],
    ['bucket: ann FULL_CONTROL', 'bob', annId, []],
  ])('%s gives %s exactly its permissions (%s)', async (text, caller, grantee, expected) => {
    const [of, , permission = ''] = text.split(' ');
    const given = grantee.length === 64 ? grantee : allUsers.replace('AllUsers', grantee);
    const uri = grantee === 'LogDelivery' ? 'http://acs.amazonaws.com/groups/s3/LogDelivery' : given;
    const body = document(ownerId, [ownerId, 'FULL_CONTROL'], [uri, permission]);
    const allowed: string[] = [];
    for (const [name, [method, target, asked = '']] of Object.entries(asks)) {
      const { as } = await withAcls();
      await as('root', 'PUT', '/bucket/key', { body: 'content' });
      await as('root', 'PUT', of === 'key:' ? '/bucket/key?acl' : '/bucket?acl', { body });
      if ((await as(caller, method, target, { body: asked })).code !== 'AccessDenied') allowed.push(name);
    }
    expect(allowed).toEqual(expected);
  });

  it('of WRITE lets a caller delete the own objects, one by one and in a list', async () => {
    const { as } = await withAcls();
    await as('root', 'PUT', '/bucket?acl', { headers: { 'x-amz-grant-write': `id="${annId}"` } });
    await as('root', 'PUT', '/bucket/foreign', { body: 'x' });
    for (const key of ['own', 'listed']) await as('ann', 'PUT', `/bucket/${key}`, { body: 'x' });
    expect(await as('ann', 'DELETE', '/bucket/foreign')).toMatchObject({ status: 403 });
    expect(await as('ann', 'DELETE', '/bucket/own')).toMatchObject({ status: 204 });
    const body = '<Delete><Object><Key>listed</Key></Object><Object><Key>foreign</Key></Object></Delete>';
    const answer = (await as('ann', 'POST', '/bucket?delete', { body })).body;
    expect(answer).toContain('<Deleted><Key>listed</Key></Deleted>');
    expect(answer).toContain('<Error><Key>foreign</Key><Code>AccessDenied</Code>');
    expect(await as('bob', 'POST', '/bucket?delete', { body })).toMatchObject({ status: 403, bytesRead: 0 });
  });

  it('holds for the version whose ACL has it', async () => {
    const { as } = await withAcls();
    const enabled = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    await as('root', 'PUT', '/bucket?versioning', { body: enabled });
    const old = (await as('root', 'PUT', '/bucket/key', { body: 'old' })).headers['x-amz-version-id'] ?? '';
    await as('root', 'PUT', '/bucket/key', { body: 'new' });
    await as('root', 'PUT', `/bucket/key?acl&versionId=${old}`, canned('public-read'));
    expect(await as('stranger', 'GET', `/bucket/key?versionId=${old}`)).toMatchObject({ status: 200, body: 'old' });
    expect(await as('stranger', 'GET', '/bucket/key')).toMatchObject({ status: 403 });
    expect(grantsOf((await as('root', 'GET', `/bucket/key?acl&versionId=${old}`)).body)).toContain(`${allUsers} READ`);
  });
});

const denied = (Resource: string, Action = 's3:GetObject') => ({ Effect: 'Deny', Action, Resource });

const denyingAcl = (Condition: Record<string, unknown>) => ({
  Effect: 'Deny',
  Action: 's3:PutObjectAcl',
  Resource: '*',
  Condition,
});

describe('decisions', () => {
  it('let a Deny win over a grant', async () => {
    const { as } = await withAcls('ObjectWriter', { ann: [denied('arn:aws:s3:::bucket/key')] });
    await as('root', 'PUT', '/bucket/key', { ...canned('public-read'), body: 'x' });
    expect(await as('ann', 'GET', '/bucket/key')).toMatchObject({ status: 403 });
    expect(await as('bob', 'GET', '/bucket/key')).toMatchObject({ status: 200 });
    const statement = { ...denied('arn:aws:s3:::bucket/*'), Principal: '*' };
    await as('root', 'PUT', '/bucket?policy', { body: JSON.stringify({ Statement: [statement] }) });
    expect(await as('bob', 'GET', '/bucket/key')).toMatchObject({ status: 403 });
    expect(await as('stranger', 'GET', '/bucket/key')).toMatchObject({ status: 403 });
  });

  it('tell strangers nothing of what exists, and those who may list that an object is absent', async () => {
    const { as } = await withAcls();
    await as('root', 'PUT', '/bucket/secret', { body: 'x' });
    const ask = (key: string) => as('stranger', 'GET', `/bucket/${key}`);
    const [secret, absent] = [await ask('secret'), await ask('absent')];
    expect([secret.status, secret.refusal.replace('secret', 'absent')]).toEqual([403, absent.refusal]);
    await as('root', 'PUT', '/bucket?acl', canned('public-read'));
    expect([(await ask('secret')).code, (await ask('absent')).code]).toEqual(['AccessDenied', 'NoSuchKey']);
    expect((await as('stranger', 'GET', `/bucket/absent?versionId=${'0'.repeat(32)}`)).code).toBe('NoSuchVersion');
  });

  it.each<[string, string, Record<string, string>, string]>([
    ['GET', '/bucket/key', {}, ''],
    ['HEAD', '/bucket/key', {}, ''],
    ['GET', '/bucket/key?acl', {}, ''],
    ['PUT', '/bucket/key?acl', { 'x-amz-acl': 'public-read' }, ''],
    ['PUT', '/bucket/key?acl', {}, document(ownerId, [annId, 'FULL_CONTROL'])],
    ['PUT', '/bucket/copy', { 'x-amz-copy-source': '/bucket/key' }, ''],
  ])(
    'hold for the object whose ACL was read, and not for one that replaces it: %s %s',
    async (method, target, headers, body) => {
      const { as, beforeOperation } = await withAcls('ObjectWriter', {
        ann: [{ Effect: 'Allow', Action: 's3:PutObject', Resource: 'arn:aws:s3:::bucket/copy' }],
      });
      const granted = { headers: { 'x-amz-grant-full-control': `id=${annId}` }, body: 'hers' };
      await as('root', 'PUT', '/bucket/key', granted);
      expect((await as('ann', method, target, { headers, body })).status).toBe(200);
      await as('root', 'PUT', '/bucket/key', granted);
      beforeOperation(() => as('root', 'PUT', '/bucket/key', { body: 'secret' }));
      const reply = await as('ann', method, target, { headers, body });
      expect([reply.status === 200 && reply.code === undefined, reply.body.includes('secret')]).toEqual([false, false]);
      expect(grantsOf((await as('root', 'GET', '/bucket/key?acl')).body)).toEqual([`${ownerId} FULL_CONTROL`]);
    },
  );

  it('read no ACL of an object where ACLs do not count, or where a policy decides', async () => {
    const reader = { ann: [{ Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::*' }] };
    const plain = await aclCalls();
    await plain.as('stranger', 'GET', '/bucket/key');
    await plain.as('ann', 'GET', '/bucket/key');
    expect(plain.aclReads).toEqual([]);
    const counted = await withAcls('ObjectWriter', reader);
    await counted.as('ann', 'GET', '/bucket/key');
    await counted.as('ann', 'PUT', '/bucket/key', { body: 'x' });
    expect(counted.aclReads).toEqual([]);
    await counted.as('bob', 'GET', '/bucket/key');
    expect(counted.aclReads).toEqual(['bucket/key']);
  });

  it('take the grants of a document as condition keys, as those of the headers', async () => {
    const { as } = await withAcls('ObjectWriter', {
      ann: [
        { Effect: 'Allow', Action: 's3:*', Resource: '*' },
        denyingAcl({ StringLike: { 's3:x-amz-grant-read': `*${allUsers}*` } }),
        denyingAcl({ StringEquals: { 's3:x-amz-acl': 'public-read' } }),
      ],
    });
    await as('ann', 'PUT', '/bucket/key', { body: 'x' });
    const set = (more: Parameters<typeof as>[3]) => as('ann', 'PUT', '/bucket/key?acl', more);
    expect(await set(canned('public-read'))).toMatchObject({ status: 403 });
    expect(await set({ headers: { 'x-amz-grant-read': `uri="${allUsers}"` } })).toMatchObject({ status: 403 });
    expect(await set({ body: document(annId, [allUsers, 'READ']) })).toMatchObject({ status: 403 });
    expect(await set({ body: document(annId, [bobId, 'READ']) })).toMatchObject({ status: 200 });
    expect(await set(canned('authenticated-read'))).toMatchObject({ status: 200 });
  });

  it('need s3:PutObjectAcl for the ACL of a new object, and s3:PutBucketAcl for that of a new bucket', async () => {
    const { as } = await withAcls('ObjectWriter', {
      ann: [
        {
          Effect: 'Allow',
          Action: ['s3:PutObject', 's3:CreateBucket', 's3:PutBucketOwnershipControls'],
          Resource: '*',
        },
      ],
    });
    const rejected = { status: 403, code: 'AccessDenied' };
    expect(await as('ann', 'PUT', '/bucket/key', { ...canned('public-read'), body: 'x' })).toMatchObject(rejected);
    expect(await as('ann', 'POST', '/bucket/key?uploads', canned('public-read'))).toMatchObject(rejected);
    expect(await as('ann', 'PUT', '/bucket/key', { ...canned('private'), body: 'x' })).toMatchObject({ status: 200 });
    const headers = { 'x-amz-object-ownership': 'ObjectWriter', 'x-amz-acl': 'public-read' };
    expect(await as('ann', 'PUT', '/other', { headers })).toMatchObject(rejected);
    expect(await as('root', 'PUT', '/other', { headers })).toMatchObject({ status: 200 });
    expect(await as('stranger', 'GET', '/other')).toMatchObject({ status: 200 });
  });
});

const blocked = async (flag: string) => {
  const calls = await withAcls();
  for (const key of ['open', 'anns']) await calls.as('root', 'PUT', `/bucket/${key}`, { body: 'x' });
  await calls.as('root', 'PUT', '/bucket/open?acl', canned('public-read'));
  await calls.as('root', 'PUT', '/bucket/anns?acl', { headers: { 'x-amz-grant-read': `id=${annId}` } });
  const body = `<PublicAccessBlockConfiguration><${flag}>true</${flag}></PublicAccessBlockConfiguration>`;
  await calls.as('root', 'PUT', '/bucket?publicAccessBlock', { body });
  return calls;
};

describe('the public access block', () => {
  it.each<[string, string, Record<string, string>]>([
    ['PUT', '/bucket?acl', { 'x-amz-acl': 'public-read' }],
    ['PUT', '/bucket/open?acl', { 'x-amz-acl': 'authenticated-read' }],
    ['PUT', '/bucket/open?acl', { 'x-amz-grant-write-acp': `uri=${allUsers}` }],
    ['PUT', '/bucket/new', { 'x-amz-acl': 'public-read' }],
    ['PUT', '/bucket/copy', { 'x-amz-acl': 'public-read', 'x-amz-copy-source': '/bucket/anns' }],
    ['POST', '/bucket/new?uploads', { 'x-amz-acl': 'public-read' }],
  ])('refuses public ACLs with BlockPublicAcls: %s %s %j', async (method, target, headers) => {
    const { as } = await blocked('BlockPublicAcls');
    expect(await as('root', method, target, { headers })).toMatchObject({ status: 403, code: 'AccessDenied' });
    const granted = { ...headers, 'x-amz-grant-read': `id=${annId}` };
    const { 'x-amz-acl': _acl, 'x-amz-grant-write-acp': _grant, ...others } = granted as Record<string, string>;
    expect((await as('root', method, target, { headers: others })).status).toBe(200);
    expect(await as('stranger', 'GET', '/bucket/open')).toMatchObject({
      status: target.includes('open?acl') ? 403 : 200,
    });
  });

  it('ignores public grants, and no others, with IgnorePublicAcls', async () => {
    const { as } = await blocked('IgnorePublicAcls');
    expect(await as('stranger', 'GET', '/bucket/open')).toMatchObject({ status: 403 });
    expect(await as('bob', 'GET', '/bucket/open')).toMatchObject({ status: 403 });
    expect(await as('ann', 'GET', '/bucket/anns')).toMatchObject({ status: 200 });
    expect(await as('root', 'PUT', '/bucket/open?acl', canned('public-read'))).toMatchObject({ status: 200 });
  });
});

describe('a request that breaks a rule', () => {
  const enforced = { 'x-amz-acl': 'public-read' };
  it.each<[string, string, string, Record<string, string>, string, number, string]>([
    ['BucketOwnerEnforced', 'PUT', '/bucket?acl', enforced, '', 400, 'AccessControlListNotSupported'],
    ['BucketOwnerEnforced', 'PUT', '/bucket/key?acl', enforced, '', 400, 'AccessControlListNotSupported'],
    [
      'BucketOwnerEnforced',
      'PUT',
      '/bucket/key?acl',
      {},
      document(ownerId, [annId, 'READ']),
      400,
      'AccessControlListNotSupported',
    ],
    [
      'BucketOwnerEnforced',
      'PUT',
      '/bucket/key',
      { 'x-amz-grant-read': `id=${annId}` },
      'x',
      400,
      'AccessControlListNotSupported',
    ],
    [
      'BucketOwnerEnforced',
      'PUT',
      '/bucket/key',
      { ...enforced, 'x-amz-copy-source': '/bucket/key' },
      '',
      400,
      'InvalidRequest',
    ],
    [
      'BucketOwnerEnforced',
      'PUT',
      '/another',
      { 'x-amz-grant-read': `id=${annId}` },
      '',
      400,
      'InvalidBucketAclWithObjectOwnership',
    ],
    ['BucketOwnerEnforced', 'PUT', '/another', { 'x-amz-object-ownership': 'Writer' }, '', 400, 'InvalidArgument'],
    ['BucketOwnerEnforced', 'GET', '/bucket/key', enforced, '', 400, 'AccessControlListNotSupported'],
    ['ObjectWriter', 'PUT', '/bucket/key?acl', {}, '', 400, 'MissingSecurityHeader'],
    ['ObjectWriter', 'PUT', '/bucket?acl', {}, '', 400, 'MissingSecurityHeader'],
    ['ObjectWriter', 'PUT', '/bucket/key?acl', enforced, document(ownerId), 400, 'UnexpectedContent'],
    ['ObjectWriter', 'PUT', '/bucket/key?acl', {}, '<a/>', 400, 'MalformedACLError'],
    ['ObjectWriter', 'PUT', '/bucket/key?acl', {}, document(ownerId, ['x', 'READ']), 400, 'InvalidArgument'],
    ['ObjectWriter', 'PUT', '/bucket/key?acl', {}, document(annId, [annId, 'READ']), 403, 'AccessDenied'],
    ['ObjectWriter', 'PUT', '/bucket?acl', {}, document(annId, [annId, 'READ']), 403, 'AccessDenied'],
    ['ObjectWriter', 'PUT', '/bucket?acl', { 'x-amz-acl': 'aws-exec-read' }, '', 501, 'NotImplemented'],
    ['ObjectWriter', 'PUT', '/bucket/key?acl', { 'x-amz-acl': 'log-delivery-write' }, '', 400, 'InvalidArgument'],
    [
      'ObjectWriter',
      'PUT',
      '/bucket/key?acl',
      { ...enforced, 'x-amz-grant-read': `id=${annId}` },
      '',
      400,
      'InvalidRequest',
    ],
    [
      'ObjectWriter',
      'PUT',
      '/bucket/key?acl',
      { 'x-amz-grant-read': 'emailAddress="a@b.example"' },
      '',
      400,
      'UnresolvableGrantByEmailAddress',
    ],
    ['ObjectWriter', 'PUT', '/bucket/absent?acl', enforced, '', 404, 'NoSuchKey'],
    ['ObjectWriter', 'PUT', '/bucket/key?acl&versionId=none', enforced, '', 400, 'InvalidArgument'],
    ['ObjectWriter', 'PUT', `/bucket/key?acl&versionId=${'0'.repeat(32)}`, enforced, '', 404, 'NoSuchVersion'],
    ['ObjectWriter', 'PUT', '/absent?acl', enforced, '', 404, 'NoSuchBucket'],
    ['ObjectWriter', 'GET', '/absent?acl', {}, '', 404, 'NoSuchBucket'],
    ['ObjectWriter', 'GET', '/bucket/absent?acl', {}, '', 404, 'NoSuchKey'],
    ['ObjectWriter', 'DELETE', '/bucket?acl', {}, '', 405, 'MethodNotAllowed'],
    ['ObjectWriter', 'DELETE', '/bucket/key?acl', {}, '', 405, 'MethodNotAllowed'],
    ['ObjectWriter', 'PUT', '/bucket?ownershipControls', {}, '', 400, 'MissingRequestBodyError'],
    ['ObjectWriter', 'PUT', '/bucket?ownershipControls', {}, ownershipDocument('Writer'), 400, 'MalformedXML'],
    ['ObjectWriter', 'PUT', '/bucket?ownershipControls', {}, '<OwnershipControls/>', 400, 'MalformedXML'],
    [
      'ObjectWriter',
      'PUT',
      '/bucket?ownershipControls',
      {},
      '<OwnershipControls><Rule/><Rule/></OwnershipControls>',
      400,
      'MalformedXML',
    ],
    [
      'ObjectWriter',
      'PUT',
      '/bucket?ownershipControls',
      {},
      '<OwnershipControls><Rule><Other/></Rule></OwnershipControls>',
      400,
      'MalformedXML',
    ],
    ['ObjectWriter', 'PUT', '/absent?ownershipControls', {}, ownershipDocument('ObjectWriter'), 404, 'NoSuchBucket'],
    ['ObjectWriter', 'GET', '/absent?ownershipControls', {}, '', 404, 'NoSuchBucket'],
    ['ObjectWriter', 'DELETE', '/absent?ownershipControls', {}, '', 404, 'NoSuchBucket'],
    [
      'ObjectWriter',
      'PUT',
      '/bucket?acl',
      { ...enforced, 'x-amz-expected-bucket-owner': '123456789012' },
      '',
      403,
      'AccessDenied',
    ],
    [
      'ObjectWriter',
      'PUT',
      '/bucket/key?acl',
      { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' },
      document(ownerId),
      400,
      'BadDigest',
    ],
  ])('%s: %s %s %j', async (ownership, method, target, headers, body, status, code) => {
    const { as } = await withAcls(ownership);
    await as('root', 'PUT', '/bucket/key', { body: 'content' });
    const reply = await as('root', method, target, { headers, body });
    expect(reply).toMatchObject({ status, code });
    // A copy answers its refusal as the body of a slow answer.
    const refusal = reply.refusal === '' ? reply.body : reply.refusal;
    expect(refusal).toMatch(
      new RegExp(`^<\\?xml version="1.0" encoding="UTF-8"\\?>\\n<Error><Code>${code}</Code><Message>.+</Message>`),
    );
    expect(refusal).toMatch(/<RequestId>R<\/RequestId>/);
    expect(await as('root', 'GET', '/bucket/key')).toMatchObject({ status: 200, body: 'content' });
  });

  it.each<[string, string, Record<string, string>, string]>([
    ['PUT', '/bucket?acl', { 'x-amz-acl': 'private' }, ''],
    ['PUT', '/bucket/key?acl', { 'x-amz-acl': 'private' }, ''],
    ['PUT', '/bucket/key?acl', {}, document(ownerId, [ownerId, 'FULL_CONTROL'])],
    ['PUT', '/bucket/key', { 'x-amz-acl': 'bucket-owner-full-control' }, 'x'],
    ['PUT', '/bucket/key', { 'x-amz-grant-full-control': `id="${ownerId}"` }, 'x'],
    ['PUT', '/another', { 'x-amz-acl': 'private' }, ''],
  ])('is not %s %s %j with BucketOwnerEnforced, which changes nothing', async (method, target, headers, body) => {
    const { as } = await withAcls('BucketOwnerEnforced');
    await as('root', 'PUT', '/bucket/key', { body: 'content' });
    expect(await as('root', method, target, { headers, body })).toMatchObject({ status: 200 });
    expect(grantsOf((await as('root', 'GET', '/bucket/key?acl')).body)).toEqual([`${ownerId} FULL_CONTROL`]);
  });
});
