import { describe, expect, it } from 'vitest';
import { testCalls, uncheckedReplications, type TestCalls } from '../../test/support/s3-api/s3-calls.ts';

const bucket = '/bucket';
const policy = (sid: string) =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      { Sid: sid, Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::bucket/${sid}/*` },
    ],
  });
const lifecycle = (id: string) =>
  `<LifecycleConfiguration><Rule><ID>${id}</ID><Status>Enabled</Status><Filter><Prefix>${id}/</Prefix></Filter><Expiration><Days>3</Days></Expiration></Rule></LifecycleConfiguration>`;
const versioning = (status: string) => `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`;
const cors = (origin: string) =>
  `<CORSConfiguration><CORSRule><AllowedOrigin>https://${origin}</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>`;
const tagging = (value: string) =>
  `<Tagging><TagSet><Tag><Key>team</Key><Value>${value}</Value></Tag></TagSet></Tagging>`;
const encryption = (blocked: string) =>
  `<ServerSideEncryptionConfiguration><Rule><BlockedEncryptionTypes><EncryptionType>${blocked}</EncryptionType></BlockedEncryptionTypes></Rule></ServerSideEncryptionConfiguration>`;
const website = (suffix: string) =>
  `<WebsiteConfiguration><IndexDocument><Suffix>${suffix}</Suffix></IndexDocument></WebsiteConfiguration>`;
const block = (acls: boolean) =>
  `<PublicAccessBlockConfiguration><BlockPublicAcls>${acls}</BlockPublicAcls></PublicAccessBlockConfiguration>`;
const ownership = (name: string) =>
  `<OwnershipControls><Rule><ObjectOwnership>${name}</ObjectOwnership></Rule></OwnershipControls>`;
const notification = (id: string) =>
  `<NotificationConfiguration><QueueConfiguration><Id>${id}</Id><Queue>arn:minio:sqs::1:webhook</Queue><Event>s3:ObjectCreated:Put</Event></QueueConfiguration></NotificationConfiguration>`;
const logging = (prefix: string) =>
  `<BucketLoggingStatus><LoggingEnabled><TargetBucket>bucket</TargetBucket><TargetPrefix>${prefix}/</TargetPrefix></LoggingEnabled></BucketLoggingStatus>`;
const inventory = (id: string) => (prefix: string) =>
  `<InventoryConfiguration><Id>${id}</Id><IsEnabled>true</IsEnabled><IncludedObjectVersions>All</IncludedObjectVersions><Schedule><Frequency>Daily</Frequency></Schedule><Destination><S3BucketDestination><Bucket>arn:aws:s3:::bucket</Bucket><Format>CSV</Format><Prefix>${prefix}</Prefix></S3BucketDestination></Destination></InventoryConfiguration>`;
const payment = (payer: string) => `<RequestPaymentConfiguration><Payer>${payer}</Payer></RequestPaymentConfiguration>`;
const accelerate = (status: string) => `<AccelerateConfiguration><Status>${status}</Status></AccelerateConfiguration>`;
const objectLock = (days: number) =>
  `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>${days}</Days></DefaultRetention></Rule></ObjectLockConfiguration>`;

const replication = (priority: number) =>
  `<ReplicationConfiguration><Rule><ID>r</ID><Status>Enabled</Status><Priority>${priority}</Priority><Filter><Prefix></Prefix></Filter><DeleteMarkerReplication><Status>Disabled</Status></DeleteMarkerReplication><Destination><Bucket>arn:minio:replication::6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11:b</Bucket></Destination></Rule></ReplicationConfiguration>`;

/** The documents that three sessions write: the first is there, and two replace it. */
const settings: readonly (readonly [name: string, first: string, second: string, third: string])[] = [
  ['lifecycle', lifecycle('a'), lifecycle('b'), lifecycle('c')],
  ['policy', policy('a'), policy('b'), policy('c')],
  ['cors', cors('a'), cors('b'), cors('c')],
  ['tagging', tagging('a'), tagging('b'), tagging('c')],
  ['encryption', encryption('SSE-C'), encryption('NONE'), encryption('SSE-C')],
  ['website', website('a'), website('b'), website('c')],
  ['versioning', versioning('Enabled'), versioning('Suspended'), versioning('Enabled')],
  ['publicAccessBlock', block(true), block(false), block(true)],
  ['ownershipControls', ownership('ObjectWriter'), ownership('BucketOwnerPreferred'), ownership('ObjectWriter')],
  ['notification', notification('a'), notification('b'), notification('c')],
  ['logging', logging('a'), logging('b'), logging('c')],
  ['inventory&id=one', inventory('one')('a'), inventory('one')('b'), inventory('one')('c')],
  ['requestPayment', payment('Requester'), payment('BucketOwner'), payment('Requester')],
  ['accelerate', accelerate('Enabled'), accelerate('Suspended'), accelerate('Enabled')],
];

/** S3 has no operation that removes them. */
const stays = ['versioning', 'notification', 'logging', 'requestPayment', 'accelerate'];
const removable = settings.filter(([name]) => !stays.includes(name));

async function calls(): Promise<TestCalls> {
  return testCalls({ notificationTargets: ['1:webhook'] });
}

const tagOf = async ({ call }: TestCalls, name: string) => {
  const { headers } = await call('GET', `${bucket}?${name}`);
  return headers['etag'] ?? '';
};
const put = ({ call }: TestCalls, name: string, body: string, headers: Record<string, string>) =>
  call('PUT', `${bucket}?${name}`, { body, headers });

describe('two sessions that write a setting of a bucket', () => {
  it.each(settings)('do not overwrite each other: %s', async (name, first, second, third) => {
    const test = await calls();
    expect((await put(test, name, first, {})).status).toBeLessThan(300);
    const seen = await tagOf(test, name);
    expect(seen).toMatch(/^"[0-9a-f]{32}"$/);
    expect((await put(test, name, second, { 'if-match': seen })).status).toBeLessThan(300);
    const now = (await test.call('GET', `${bucket}?${name}`)).body;
    expect(await put(test, name, third, { 'if-match': seen })).toMatchObject({
      status: 412,
      code: 'PreconditionFailed',
    });
    expect((await test.call('GET', `${bucket}?${name}`)).body).toBe(now);
    expect((await put(test, name, third, { 'if-match': await tagOf(test, name) })).status).toBeLessThan(300);
  });

  it.each(removable)('do not both make one that was absent: %s', async (name, first, second) => {
    const test = await calls();
    await test.call('DELETE', `${bucket}?${name}`);
    expect((await put(test, name, first, { 'if-none-match': '*' })).status).toBeLessThan(300);
    expect(await put(test, name, second, { 'if-none-match': '*' })).toMatchObject({ status: 412 });
  });

  it.each(settings)('do not both make one that was absent, by its tag: %s', async (name, first, second) => {
    const test = await calls();
    if (!stays.includes(name)) await test.call('DELETE', `${bucket}?${name}`);
    const absent = await tagOf(test, name);
    expect((await put(test, name, first, { 'if-match': absent })).status).toBeLessThan(300);
    expect(await put(test, name, second, { 'if-match': absent })).toMatchObject({ status: 412 });
  });

  it.each(removable)('do not remove what the other one wrote: %s', async (name, first, second) => {
    const test = await calls();
    await put(test, name, first, {});
    const seen = await tagOf(test, name);
    await put(test, name, second, {});
    const removed = await test.call('DELETE', `${bucket}?${name}`, { headers: { 'if-match': seen } });
    expect(removed).toMatchObject({ status: 412 });
    expect(await test.call('GET', `${bucket}?${name}`)).toMatchObject({ status: 200 });
  });

  it('do not overwrite each other: replication', async () => {
    const test = await testCalls({ replications: uncheckedReplications });
    await put(test, 'versioning', versioning('Enabled'), {});
    const absent = await tagOf(test, 'versioning');
    expect(await put(test, 'replication', replication(1), { 'if-none-match': '*' })).toMatchObject({ status: 200 });
    const seen = await tagOf(test, 'replication');
    expect(seen).not.toBe(absent);
    expect(await put(test, 'replication', replication(2), { 'if-match': seen })).toMatchObject({ status: 200 });
    expect(await put(test, 'replication', replication(3), { 'if-match': seen })).toMatchObject({ status: 412 });
    const removed = await test.call('DELETE', `${bucket}?replication`, { headers: { 'if-match': seen } });
    expect(removed).toMatchObject({ status: 412 });
    expect((await test.call('GET', `${bucket}?replication`)).body).toContain('<Priority>2</Priority>');
  });

  it('do not overwrite each other: object lock', async () => {
    const test = await calls();
    await put(test, 'versioning', versioning('Enabled'), {});
    expect(await put(test, 'object-lock', objectLock(1), { 'if-none-match': '*' })).toMatchObject({ status: 200 });
    const seen = await tagOf(test, 'object-lock');
    expect(await put(test, 'object-lock', objectLock(2), { 'if-match': seen })).toMatchObject({ status: 200 });
    expect(await put(test, 'object-lock', objectLock(3), { 'if-match': seen })).toMatchObject({ status: 412 });
    expect((await test.call('GET', `${bucket}?object-lock`)).body).toContain('<Days>2</Days>');
  });

  it('end the access log only where it is the one that was read', async () => {
    const test = await calls();
    await put(test, 'logging', logging('a'), {});
    const seen = await tagOf(test, 'logging');
    await put(test, 'logging', logging('b'), {});
    const ended = await put(test, 'logging', '<BucketLoggingStatus/>', { 'if-match': seen });
    expect(ended).toMatchObject({ status: 412 });
    expect((await test.call('GET', `${bucket}?logging`)).body).toContain('b/');
  });

  it('change other inventories of the bucket, and the payer and the acceleration, at the same time', async () => {
    const test = await calls();
    for (const [name, first, other, otherDocument, second] of [
      ['inventory&id=one', inventory('one')('a'), 'inventory&id=two', inventory('two')('a'), inventory('one')('b')],
      ['requestPayment', payment('Requester'), 'accelerate', accelerate('Enabled'), payment('BucketOwner')],
    ] as const) {
      await put(test, name, first, {});
      const seen = await tagOf(test, name);
      expect((await put(test, other, otherDocument, {})).status).toBe(200);
      expect(await put(test, name, second, { 'if-match': seen })).toMatchObject({ status: 200 });
    }
  });

  it('change other settings at the same time', async () => {
    const test = await calls();
    await put(test, 'lifecycle', lifecycle('a'), {});
    const seen = await tagOf(test, 'lifecycle');
    await put(test, 'cors', cors('a'), {});
    expect(await put(test, 'lifecycle', lifecycle('b'), { 'if-match': seen })).toMatchObject({ status: 200 });
  });

  it('of whom one removed it meanwhile: the other one does not make it again', async () => {
    const test = await calls();
    await put(test, 'lifecycle', lifecycle('a'), {});
    const seen = await tagOf(test, 'lifecycle');
    await test.call('DELETE', `${bucket}?lifecycle`);
    expect(await put(test, 'lifecycle', lifecycle('b'), { 'if-match': seen })).toMatchObject({ status: 412 });
    expect(await put(test, 'lifecycle', lifecycle('b'), { 'if-match': '*' })).toMatchObject({ status: 412 });
  });

  it.each([
    [{ 'if-none-match': '"a"' }, 501],
    [{ 'if-match': '' }, 400],
  ])('are refused a condition that is none: %j', async (headers, status) => {
    expect(await put(await calls(), 'lifecycle', lifecycle('a'), headers)).toMatchObject({ status });
  });
});
