import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { ownerId } from '../../protocol/s3/acl.ts';
import { guardFamilies, notServed, requestTable, type Treatment } from './request-table.ts';
import { routes } from './routes.ts';
import { formBody, formHeaders } from '../../test/support/s3-api/post-forms.ts';
import {
  testCalls,
  uncheckedReplications,
  type CallOptions,
  type Reply,
  type TestCalls,
} from '../../test/support/s3-api/s3-calls.ts';
import { modelOperations } from '../../test/support/s3-api/s3-model.ts';

const model = modelOperations();
/** Their answers have no end: `bucket-notification.test.ts` tests their parameters. */
const ofMinio: readonly string[] = [
  'ListenNotification',
  'ListenBucketNotification',
  'GetBucketReplicationMetrics',
  'ResetBucketReplicationCancel',
  'ResetBucketReplicationStart',
  'ResetBucketReplicationStatus',
];
const settingOf = new Map(
  routes.flatMap(([, , , { name, setting }]) => (setting === undefined ? [] : [[name, setting]])),
);
const served = new Set(routes.map(([, , , operation]) => operation.name));

describe('the table', () => {
  it('has each operation of S3, as served or as not served', () => {
    expect(model.length).toBeGreaterThan(100);
    // The forms of browsers are not in the model, and ofMinio is an extension of MinIO.
    const names = [...model.map(({ name }) => name), 'PostObject', ...ofMinio].toSorted();
    expect([...Object.keys(requestTable), ...notServed].toSorted()).toEqual(names);
    expect(Object.keys(requestTable).toSorted()).toEqual([...served].toSorted());
  });

  it.each(model.filter(({ name }) => served.has(name)).map(({ name, names }) => [name, names] as const))(
    'has each header and parameter of %s',
    (name, names) => {
      const rows = Object.keys(requestTable[name] ?? {});
      expect(names.filter((one) => !rows.includes(one))).toEqual([]);
    },
  );

  it('calls no guard, checksum, lock, owner or encryption header harmless, and gives a reason for each that is', () => {
    for (const [name, { kind }] of allRows()) {
      if (kind !== 'harmless') continue;
      expect(name).not.toMatch(
        /if-|match|checksum|md5|lock|retention|legal|hold|owner|encryption|acl|grant|mfa|tagging/,
      );
      expect(guardFamilies.test(name)).toBe(false);
    }
    for (const [, treatment] of allRows()) if (treatment.kind !== 'honoured') expect(treatment.why).toMatch(/\w+ \w+/);
  });
});

function allRows(): (readonly [string, Treatment])[] {
  return Object.values(requestTable).flatMap((rows) => Object.entries(rows));
}

interface Base {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

let calls: TestCalls;
let uploadId: string;
let partEtag: string;
beforeEach(async () => {
  // By default a canned ACL changes nothing but the log: see acl/ignored-acl.test.ts.
  calls = await testCalls({ replications: uncheckedReplications, cannedAcls: { kind: 'refuse' } });
  const headers = { 'x-amz-checksum-crc32': crc32OfContent, 'x-amz-tagging': 'n=1' };
  await ok(calls.call('PUT', '/bucket/key', { body: 'content', headers }));
  await ok(calls.call('PUT', '/bucket/other/key', { body: 'content' }));
  uploadId = await begin();
  partEtag =
    (await ok(calls.call('PUT', `/bucket/up?partNumber=1&uploadId=${uploadId}`, { body: 'part' }))).headers['etag'] ??
    '';
});

async function begin(headers: Record<string, string> = {}): Promise<string> {
  const { body } = await ok(calls.call('POST', '/bucket/up?uploads', { headers }));
  return /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';
}

async function ok(reply: Promise<Reply>): Promise<Reply> {
  const answer = await reply;
  expect(answer).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) as number });
  return answer;
}

const md5 = (text: string | Buffer) => createHash('md5').update(text).digest('base64');
/** A checksum of nothing that is sent here. */
const zeros = (bytes: number) => Buffer.alloc(bytes, 1).toString('base64');
const crc32OfContent = '/sUwqQ==';
const encryptionDocument =
  '<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm>' +
  '</ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>';
const taggingDocument = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>';
const ownershipDocument =
  '<OwnershipControls><Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule></OwnershipControls>';
const aclDocument =
  `<AccessControlPolicy><Owner><ID>${ownerId}</ID></Owner><AccessControlList><Grant><Grantee><ID>${ownerId}</ID></Grantee>` +
  '<Permission>FULL_CONTROL</Permission></Grant></AccessControlList></AccessControlPolicy>';
const selectDocument =
  '<SelectObjectContentRequest><Expression>SELECT * FROM S3Object</Expression><ExpressionType>SQL</ExpressionType>' +
  '<InputSerialization><CSV/></InputSerialization><OutputSerialization><CSV/></OutputSerialization></SelectObjectContentRequest>';
const policyDocument = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::bucket/*' }],
});

/** A request of each operation that succeeds, or is told that there is none, so that a row's value makes the difference. */
function baseOf(name: string): Base {
  if (name === 'PostObject') {
    const body = formBody({ key: 'form' }, { content: 'content' });
    return { method: 'POST', path: '/bucket', query: {}, headers: { ...formHeaders }, body: body.toString() };
  }
  const operation = model.find((one) => one.name === name);
  if (operation === undefined) throw new Error(`the model has no ${name}`);
  const query: Record<string, string> = {};
  for (const part of operation.query.split('&').filter((one) => one !== '')) {
    const [key = '', value = ''] = part.split('=');
    query[key] = value;
  }
  const isOfObject = operation.path.includes('{Key+}');
  const { method } = operation;
  const base = { method, path: isOfObject ? '/bucket/key' : '/bucket', query, headers: {} };
  switch (name) {
    case 'ListBuckets':
    case 'ListDirectoryBuckets':
      return { ...base, path: '/', query: { 'x-id': name } };
    case 'WriteGetObjectResponse':
      return { ...base, path: operation.path };
    case 'CreateBucket':
      return { ...base, path: '/another' };
    case 'DeleteBucket':
      return { ...base, path: '/empty' };
    case 'PutBucketInventoryConfiguration':
      return { ...base, query: { ...base.query, id: 'one' }, body: inventoryDocument };
    case 'GetBucketInventoryConfiguration':
    case 'DeleteBucketInventoryConfiguration':
      return { ...base, query: { ...base.query, id: 'a' } };
    case 'PutBucketEncryption':
      return { ...base, body: encryptionDocument };
    case 'PutBucketVersioning':
      return { ...base, body: '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>' };
    case 'PutBucketTagging':
      return { ...base, body: taggingDocument };
    case 'PutBucketAcl':
    case 'PutObjectAcl':
      return { ...base, body: aclDocument };
    case 'PutBucketOwnershipControls':
      return { ...base, body: ownershipDocument };
    case 'PutPublicAccessBlock':
      return { ...base, body: '<PublicAccessBlockConfiguration/>' };
    case 'PutObjectTagging':
      return { ...base, body: taggingDocument };
    case 'PutObjectLegalHold':
      return { ...base, body: '<LegalHold><Status>ON</Status></LegalHold>' };
    case 'PutObjectRetention':
      return { ...base, body: '<Retention/>' };
    case 'PutObjectLockConfiguration':
      return {
        ...base,
        body: '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>',
      };
    case 'PutBucketPolicy':
      return { ...base, body: policyDocument };
    case 'PutBucketAccelerateConfiguration':
    case 'PutBucketCors':
    case 'PutBucketLifecycleConfiguration':
    case 'PutBucketLogging':
    case 'PutBucketNotificationConfiguration':
    case 'PutBucketReplication':
    case 'PutBucketRequestPayment':
    case 'PutBucketWebsite':
      return { ...base, body: settingDocuments[name] };
    case 'DeleteObjects':
      return { ...base, body: '<Delete><Object><Key>key</Key></Object></Delete>' };
    case 'PutObject':
      return { ...base, body: 'content' };
    case 'CopyObject':
      return { ...base, path: '/bucket/copy', headers: { 'x-amz-copy-source': '/bucket/key' } };
    case 'RenameObject':
      return { ...base, path: '/bucket/other/key', headers: { 'x-amz-rename-source': '/key' } };
    case 'GetObjectAttributes':
      return { ...base, headers: { 'x-amz-object-attributes': 'ETag,ObjectParts' } };
    case 'UploadPart':
      return { ...base, path: '/bucket/up', query: { partNumber: '2', uploadId }, body: 'content' };
    case 'UploadPartCopy':
      return {
        ...base,
        path: '/bucket/up',
        query: { partNumber: '2', uploadId },
        headers: { 'x-amz-copy-source': '/bucket/key' },
      };
    case 'RestoreObject':
      return { ...base, body: '<RestoreRequest><Days>1</Days></RestoreRequest>' };
    case 'SelectObjectContent':
      // A query that succeeds needs a process.
      return { ...base, path: '/bucket/missing', body: selectDocument };
    case 'CompleteMultipartUpload':
      return {
        ...base,
        path: '/bucket/up',
        query: { uploadId },
        body: `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${partEtag}</ETag></Part></CompleteMultipartUpload>`,
      };
    case 'AbortMultipartUpload':
    case 'ListParts':
      return { ...base, path: '/bucket/up', query: { uploadId } };
    default:
      return base;
  }
}

const inventoryDocument =
  '<InventoryConfiguration><Id>one</Id><IsEnabled>true</IsEnabled><IncludedObjectVersions>All</IncludedObjectVersions><Schedule><Frequency>Daily</Frequency></Schedule><Destination><S3BucketDestination><Bucket>arn:aws:s3:::bucket</Bucket><Format>CSV</Format></S3BucketDestination></Destination></InventoryConfiguration>';

const settingDocuments = {
  PutBucketAccelerateConfiguration: '<AccelerateConfiguration><Status>Enabled</Status></AccelerateConfiguration>',
  PutBucketLogging: '<BucketLoggingStatus/>',
  PutBucketRequestPayment: '<RequestPaymentConfiguration><Payer>Requester</Payer></RequestPaymentConfiguration>',
  PutBucketCors:
    '<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>',
  PutBucketLifecycleConfiguration:
    '<LifecycleConfiguration><Rule><Status>Enabled</Status><Filter/><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>',
  PutBucketNotificationConfiguration: '<NotificationConfiguration/>',
  PutBucketReplication:
    '<ReplicationConfiguration><Role/><Rule><Status>Enabled</Status><Priority>1</Priority><Filter/><DeleteMarkerReplication><Status>Disabled</Status></DeleteMarkerReplication><Destination><Bucket>arn:minio:replication::6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11:b</Bucket></Destination></Rule></ReplicationConfiguration>',
  PutBucketWebsite: '<WebsiteConfiguration><IndexDocument><Suffix>i</Suffix></IndexDocument></WebsiteConfiguration>',
} as const;

function send({ method, path, query, headers, body }: Base): Promise<Reply> {
  const target = Object.entries(query)
    .map(([name, value]) => (value === '' ? name : `${name}=${encodeURIComponent(value)}`))
    .join('&');
  const more: CallOptions = { headers, ...(body === undefined ? {} : { body }) };
  return calls.call(method, `${path}${target === '' ? '' : `?${target}`}`, more);
}

/** The base with the header or parameter, in place of the one that it may have. */
function withRow(base: Base, name: string, value: string): Base {
  return name.startsWith('?')
    ? { ...base, query: { ...base.query, [name.slice(1)]: value } }
    : { ...base, headers: { ...base.headers, [name.replace('*', 'colour')]: value } };
}

/**
 * A value of each header and parameter that cannot pass unseen: it is refused, or changes what is answered or stored. The second value
 * is one that some operations need beside it.
 */
const telling: Readonly<Record<string, string | readonly [value: string, beside: Readonly<Record<string, string>>]>> = {
  'x-amz-optional-object-attributes': 'Other',
  'x-amz-skip-destination-validation': 'maybe',
  'x-amz-transition-default-minimum-object-size': '64K',
  'x-minio-source-replication-request': 'maybe',
  'x-minio-source-proxy-request': 'maybe',
  'x-amz-replication-status': 'PENDING',
  'x-minio-source-mtime': '2026-11-24T00:00:00Z',
  'x-minio-source-etag': '00000000000000000000000000000000',
  'x-minio-source-deletemarker': 'true',
  'x-minio-source-replication-tagging-timestamp': '2026-11-24T00:00:00Z',
  'x-minio-source-replication-retention-timestamp': '2026-11-24T00:00:00Z',
  'x-minio-source-replication-legalhold-timestamp': '2026-11-24T00:00:00Z',
  'x-minio-replication-actual-object-size': '5',
  'x-amz-expected-bucket-owner': '123456789012',
  'x-amz-source-expected-bucket-owner': '123456789012',
  'cache-control': 'no-cache',
  'content-disposition': 'attachment',
  'content-encoding': 'gzip',
  'content-language': 'rm',
  'content-type': 'text/x-row',
  'content-length': String(6 * 1024 ** 4),
  expires: 'Thu, 01 Dec 2033 16:00:00 GMT',
  'x-amz-meta-*': 'blue',
  'x-amz-storage-class': 'REDUCED_REDUNDANCY',
  'x-amz-website-redirect-location': '/elsewhere',
  'x-amz-server-side-encryption': 'AES256',
  'x-amz-server-side-encryption-aws-kms-key-id': 'another-key',
  'x-amz-server-side-encryption-context': 'e30=',
  'x-amz-server-side-encryption-bucket-key-enabled': 'true',
  'x-amz-server-side-encryption-customer-algorithm': 'AES256',
  'x-amz-server-side-encryption-customer-key': Buffer.alloc(32).toString('base64'),
  'x-amz-server-side-encryption-customer-key-md5': md5(Buffer.alloc(32)),
  'x-amz-copy-source-server-side-encryption-customer-algorithm': 'AES256',
  'x-amz-copy-source-server-side-encryption-customer-key': Buffer.alloc(32).toString('base64'),
  'x-amz-copy-source-server-side-encryption-customer-key-md5': md5(Buffer.alloc(32)),
  'content-md5': md5('something else'),
  'x-amz-sdk-checksum-algorithm': 'SHA256',
  'x-amz-checksum-algorithm': 'SHA256',
  'x-amz-checksum-type': 'NEITHER',
  'x-amz-checksum-crc32': zeros(4),
  'x-amz-checksum-crc32c': zeros(4),
  'x-amz-checksum-crc64nvme': zeros(8),
  'x-amz-checksum-sha1': zeros(20),
  'x-amz-checksum-sha256': zeros(32),
  'x-amz-checksum-sha512': zeros(64),
  'x-amz-checksum-md5': zeros(16),
  'x-amz-checksum-xxhash64': zeros(8),
  'x-amz-checksum-xxhash3': zeros(8),
  'x-amz-checksum-xxhash128': zeros(16),
  'x-amz-checksum-mode': 'ENABLED',
  'x-amz-mp-object-size': '1',
  'if-match': '"00000000000000000000000000000000"',
  'if-none-match': '*',
  'if-modified-since': 'Thu, 01 Dec 2033 16:00:00 GMT',
  'if-unmodified-since': 'Thu, 01 Dec 1994 16:00:00 GMT',
  'x-amz-if-match-last-modified-time': 'Thu, 01 Dec 1994 16:00:00 GMT',
  'x-amz-if-match-size': '1',
  'x-amz-acl': 'public-read',
  'x-amz-grant-full-control': 'uri=http://acs.amazonaws.com/groups/global/AllUsers',
  'x-amz-grant-read': 'uri=http://acs.amazonaws.com/groups/global/AllUsers',
  'x-amz-grant-read-acp': 'uri=http://acs.amazonaws.com/groups/global/AllUsers',
  'x-amz-grant-write': 'uri=http://acs.amazonaws.com/groups/global/AllUsers',
  'x-amz-grant-write-acp': 'uri=http://acs.amazonaws.com/groups/global/AllUsers',
  'x-amz-object-ownership': 'neither',
  'x-amz-bucket-object-lock-enabled': 'neither',
  'x-minio-force-delete': 'neither',
  'x-amz-copy-source': '/bucket/absent',
  'x-amz-copy-source-if-match': '"00000000000000000000000000000000"',
  'x-amz-copy-source-if-none-match': '*',
  'x-amz-copy-source-if-modified-since': 'Thu, 01 Dec 2033 16:00:00 GMT',
  'x-amz-copy-source-if-unmodified-since': 'Thu, 01 Dec 1994 16:00:00 GMT',
  'x-amz-copy-source-range': 'bytes=0-1',
  'x-amz-rename-source': '/absent',
  'x-amz-rename-source-if-match': '"00000000000000000000000000000000"',
  'x-amz-rename-source-if-none-match': '*',
  'x-amz-rename-source-if-modified-since': 'Thu, 01 Dec 2033 16:00:00 GMT',
  'x-amz-rename-source-if-unmodified-since': 'Thu, 01 Dec 1994 16:00:00 GMT',
  'x-amz-client-token': 'no token',
  'x-amz-metadata-directive': 'NEITHER',
  'x-amz-tagging': 'a=b',
  'x-amz-tagging-directive': 'NEITHER',
  'x-amz-object-lock-mode': 'NEITHER',
  'x-amz-object-lock-retain-until-date': 'tomorrow',
  'x-amz-object-lock-legal-hold': 'NEITHER',
  'x-amz-bypass-governance-retention': 'NEITHER',
  'x-amz-object-attributes': 'ObjectSize',
  'x-amz-max-parts': 'none',
  'x-amz-part-number-marker': 'none',
  range: 'bytes=0-1',
  '?bucket-region': 'eu-central-1',
  '?continuation-token': 'none',
  '?delimiter': '/',
  '?encoding-type': 'none',
  '?fetch-owner': 'true',
  '?id': 'no ID',
  '?key-marker': 'zzz',
  '?marker': 'zzz',
  '?metadata': 'true',
  '?max-buckets': '-1',
  '?max-keys': '1',
  '?max-parts': '0',
  '?max-uploads': '0',
  '?part-number-marker': '1',
  '?partNumber': '0',
  '?prefix': 'zzz',
  '?response-cache-control': 'no-cache',
  '?response-content-disposition': 'attachment',
  '?response-content-encoding': 'gzip',
  '?response-content-language': 'rm',
  '?response-content-type': 'text/x-row',
  '?response-expires': 'Thu, 01 Dec 2033 16:00:00 GMT',
  '?select-type': '3',
  '?start-after': 'zzz',
  '?upload-id-marker': ['ffffffffffffffffffffffffffffffff', { '?key-marker': 'up' }],
  '?uploadId': 'none',
  '?version-id-marker': 'none',
  '?versionId': 'none',
};

/** Values of refused and harmless rows; any other is `anything`. */
const samples: Readonly<Record<string, string>> = {
  'x-amz-request-payer': 'requester',
  'x-amz-tagging': 'a=b',
};

const everyRow = Object.entries(requestTable)
  .filter(([operation]) => !ofMinio.includes(operation))
  .flatMap(([operation, rows]) => Object.entries(rows).map(([name, treatment]) => ({ operation, name, treatment })));

const of = (kind: Treatment['kind']) =>
  everyRow
    .filter(({ treatment }) => treatment.kind === kind)
    .map(({ operation, name, treatment }) => [operation, name, treatment] as const);

describe('on a server', () => {
  it.each(of('refused'))('%s refuses %s', async (operation, name, treatment) => {
    await prepare(operation);
    const base = baseOf(operation);
    const reply = await send(withRow(base, name, samples[name] ?? 'anything'));
    expect(reply.code).toBe(treatment.kind === 'refused' ? treatment.code : '');
    expect(reply.body).toContain(name.replace(/^\?/, ''));
    for (const value of treatment.kind === 'refused' ? treatment.except : []) {
      expect((await send(withRow(base, name, value))).status).toBeLessThan(300);
      await renew(operation);
    }
  });

  it.each(of('harmless'))('%s answers %s as if it were not there', async (operation, name) => {
    await prepare(operation);
    const base = baseOf(operation);
    const reply = await send(withRow(base, name, samples[name] ?? 'anything'));
    await renew(operation);
    expect(lasting(reply)).toEqual(lasting(await send(baseOf(operation))));
  });

  it.each(of('honoured'))('%s honours %s', async (operation, name) => {
    await prepare(operation);
    const readsTags = name === 'x-amz-tagging-directive' && operation !== 'CopyObject';
    // A setting that is absent may be put with `*`.
    const ofSetting = name === 'if-none-match' && settingOf.has(operation);
    const [value, beside] = [readsTags ? 'ACCESS' : ofSetting ? '"an ETag"' : (telling[name] ?? [])].flat() as [
      string?,
      Readonly<Record<string, string>>?,
    ];
    if (value === undefined) throw new Error(`no value of ${name} to send`);
    let base = baseOf(operation);
    if (/^(?:cache-control|content-(?!length|md5)|expires|x-amz-meta-)/.test(name) && operation === 'CopyObject') {
      base = withRow(base, 'x-amz-metadata-directive', 'REPLACE');
    }
    if (operation === 'CopyObject' && name === 'x-amz-tagging')
      base = withRow(base, 'x-amz-tagging-directive', 'REPLACE');
    for (const [other, its] of Object.entries(beside ?? {})) base = withRow(base, other, its);
    if (operation === 'CopyObject' && name === 'if-none-match') base = { ...base, path: '/bucket/other/key' };
    if (operation === 'CreateMultipartUpload' && name === 'if-none-match') base = { ...base, path: '/bucket/key' };
    if (operation === 'CompleteMultipartUpload' && name === 'if-none-match') {
      await ok(calls.call('PUT', '/bucket/up', { body: 'before' }));
    }
    const reply = await send(withRow(base, name, value));
    const seen = [lasting(reply), await left(reply, operation)];
    await renew(operation);
    const plain = await send(operation === 'CompleteMultipartUpload' ? baseOf(operation) : base);
    expect(seen).not.toEqual([lasting(plain), await left(plain, operation)]);
  });
});

/** A bucket that is empty, for the operation that needs one. */
async function prepare(operation: string): Promise<void> {
  if (operation === 'DeleteBucket') await ok(calls.call('PUT', '/empty'));
}

/** Restores the objects that the operation has removed. */
async function renew(operation: string): Promise<void> {
  if (operation === 'CreateBucket') await calls.call('DELETE', '/another');
  if (operation === 'DeleteBucket') await calls.call('PUT', '/empty');
  if (operation === 'RenameObject') await calls.call('PUT', '/bucket/other/key', { body: 'content' });
  if (operation === 'DeleteObject' || operation === 'DeleteObjects' || operation === 'RenameObject') {
    await calls.call('PUT', '/bucket/key', { body: 'content' });
  }
  if (operation === 'AbortMultipartUpload' || operation === 'CompleteMultipartUpload') {
    await calls.call('DELETE', '/bucket/up');
    uploadId = await begin();
    const part = await calls.call('PUT', `/bucket/up?partNumber=1&uploadId=${uploadId}`, { body: 'part' });
    partEtag = part.headers['etag'] ?? '';
  }
}

/** What an operation leaves that its answer does not tell: how its object is described. */
async function left(reply: Reply, operation: string): Promise<unknown> {
  if (reply.status >= 300) return undefined;
  if (operation === 'CreateMultipartUpload') {
    const id = /<UploadId>(.*)<\/UploadId>/.exec(reply.body)?.[1] ?? '';
    // An upload with a composite checksum refuses a part without one.
    const { headers } = await calls.call('PUT', `/bucket/key?partNumber=1&uploadId=${id}`, { body: 'part' });
    const part = `<Part><PartNumber>1</PartNumber><ETag>${headers['etag'] ?? ''}</ETag></Part>`;
    const body = `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`;
    const { code } = await calls.call('POST', `/bucket/key?uploadId=${id}`, { body });
    return [code, lasting(await calls.call('HEAD', '/bucket/key'))];
  }
  if (operation === 'UploadPartCopy') return lasting(await calls.call('GET', `/bucket/up?uploadId=${uploadId}`));
  if (operation === 'PutObject') return lasting(await calls.call('HEAD', '/bucket/key'));
  return operation === 'CopyObject' ? lasting(await calls.call('HEAD', '/bucket/copy')) : undefined;
}

/** An answer without what differs from one to the next. */
function lasting({ status, headers, body }: Reply) {
  const kept = Object.entries(headers).filter(([name]) => name !== 'last-modified');
  return { status, headers: kept, body: body.replaceAll(/<(UploadId|LastModified|Initiated|ETag)>[^<]*/g, '<$1>') };
}

describe('operations that are not served', () => {
  it.each(notServed)('%s is refused, with each of its headers', async (name) => {
    const operation = model.find((one) => one.name === name);
    const base = baseOf(name);
    for (const row of ['x-amz-request-payer', ...(operation?.names ?? [])]) {
      const reply = await send(withRow(base, row, samples[row] ?? 'anything'));
      // The path of WriteGetObjectResponse is no bucket.
      const code = name === 'WriteGetObjectResponse' ? 'InvalidBucketName' : 'NotImplemented';
      expect([row, reply.code]).toEqual([row, code]);
    }
    expect((await calls.call('GET', '/bucket/key')).body).toBe('content');
  });
});
