import { describe, expect, it } from 'vitest';
import { testCalls } from '../../../test/support/s3-api/s3-calls.ts';

const document = (id = 'daily', more = '', bucket = 'reports') =>
  `<InventoryConfiguration><Id>${id}</Id><IsEnabled>true</IsEnabled><Destination><S3BucketDestination><Format>CSV</Format>` +
  `<Bucket>arn:aws:s3:::${bucket}</Bucket><Prefix>of</Prefix></S3BucketDestination></Destination>` +
  `<Schedule><Frequency>Daily</Frequency></Schedule><IncludedObjectVersions>All</IncludedObjectVersions>${more}</InventoryConfiguration>`;
const target = (id = 'daily') => `/bucket?inventory&id=${id}`;

const fields = (name: string) => `<OptionalFields><Field>${name}</Field></OptionalFields>`;

async function inventoryCalls(options: Parameters<typeof testCalls>[0] = {}) {
  const test = await testCalls(options);
  await test.layer.createBucket('reports', { location: '' });
  return test;
}

describe('the inventories of a bucket', () => {
  it('are put, read, listed and deleted one by one', async () => {
    const { call } = await inventoryCalls();
    for (const id of ['daily', 'another']) {
      expect(await call('PUT', target(id), { body: document(id) })).toMatchObject({ status: 200, body: '' });
    }
    expect((await call('GET', target())).body).toContain('<Id>daily</Id><IsEnabled>true</IsEnabled>');
    const { body } = await call('GET', '/bucket?inventory');
    expect([...body.matchAll(/<Id>(\w+)<\/Id>/g)].map(([, id]) => id)).toEqual(['another', 'daily']);
    expect(await call('DELETE', target())).toMatchObject({ status: 204 });
    for (const method of ['GET', 'DELETE']) {
      expect(await call(method, target())).toMatchObject({ status: 404, code: 'NoSuchConfiguration' });
    }
    expect((await call('GET', '/bucket?inventory')).body).not.toContain('daily');
  });

  it('replace the one of their ID', async () => {
    const { call } = await inventoryCalls();
    await call('PUT', target(), { body: document() });
    await call('PUT', target(), { body: document('daily', fields('Size')) });
    const { body } = await call('GET', '/bucket?inventory');
    expect(body.match(/<InventoryConfiguration>/g)).toHaveLength(1);
    expect(body).toContain(fields('Size'));
  });

  it('come by pages of 100, and are at most 1,000', async () => {
    const { call } = await inventoryCalls();
    const ids = Array.from({ length: 1_000 }, (_, at) => String(at).padStart(4, '0'));
    for (const id of ids) await call('PUT', target(id), { body: document(id) });
    const found: string[] = [];
    for (let token: string | undefined = ''; token !== undefined;) {
      const { body } = await call('GET', `/bucket?inventory${token === '' ? '' : `&continuation-token=${token}`}`);
      const page = [...body.matchAll(/<Id>(\w+)<\/Id>/g)].map(([, id = '']) => id);
      expect(page).toHaveLength(100);
      found.push(...page);
      token = /<NextContinuationToken>(.*)<\/NextContinuationToken>/.exec(body)?.[1];
    }
    expect(found).toEqual(ids);
    const more = await call('PUT', target('more'), { body: document('more') });
    expect(more).toMatchObject({ status: 400, code: 'TooManyConfigurations' });
    expect(await call('PUT', target('0000'), { body: document('0000') })).toMatchObject({ status: 200 });
  });

  it('are not listed after a token of others', async () => {
    const { call } = await inventoryCalls();
    const listed = await call('GET', '/bucket?inventory&continuation-token=other');
    expect(listed).toMatchObject({ status: 400, code: 'InvalidArgument' });
  });

  it('are gone with their bucket', async () => {
    const { call } = await inventoryCalls();
    await call('PUT', target(), { body: document() });
    await call('DELETE', '/bucket');
    await call('PUT', '/bucket');
    expect(await call('GET', target())).toMatchObject({ status: 404, code: 'NoSuchConfiguration' });
  });

  it.each([
    ['GET', '/absent?inventory', ''],
    ['GET', '/absent?inventory&id=daily', ''],
    ['PUT', '/absent?inventory&id=daily', document()],
    ['DELETE', '/absent?inventory&id=daily', ''],
  ])('%s %s is NoSuchBucket', async (method, at, body) => {
    const { call } = await inventoryCalls();
    expect(await call(method, at, { body })).toMatchObject({ status: 404, code: 'NoSuchBucket' });
  });

  it.each<[string, string, string, string]>([
    ['no ID', '/bucket?inventory', document(), 'InvalidConfigurationId'],
    ['an empty ID', '/bucket?inventory&id=', document(), 'InvalidConfigurationId'],
    ['an ID with a space', '/bucket?inventory&id=a%20b', document('a b'), 'InvalidConfigurationId'],
    ['the ID of another', target('another'), document(), 'IdMismatch'],
    ['an absent destination', target(), document('daily', '', 'absent'), 'InvalidS3DestinationBucket'],
    [
      'an account of others',
      target(),
      document().replace('<Prefix>', '<AccountId>123456789012</AccountId><Prefix>'),
      'AccessDenied',
    ],
    [
      'an absent key',
      target(),
      document().replace('<Prefix>', '<Encryption><SSE-KMS><KeyId>absent</KeyId></SSE-KMS></Encryption><Prefix>'),
      'KMS.NotFoundException',
    ],
  ])('with %s are refused', async (_what, at, body, code) => {
    const { call } = await inventoryCalls();
    expect(await call('PUT', at, { body })).toMatchObject({ code });
  });
});

it('is not addressed by a signature of version 2, which does not cover the ID', async () => {
  const { call } = await inventoryCalls();
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const by = `${target()}&AWSAccessKeyId=a&Expires=1&Signature=a`;
    expect(await call(method, by, { body: document() })).toMatchObject({ status: 400, code: 'InvalidRequest' });
  }
});

describe('who may have inventories', () => {
  it.each([
    ['GET', 's3:GetInventoryConfiguration'],
    ['PUT', 's3:PutInventoryConfiguration'],
    ['DELETE', 's3:PutInventoryConfiguration'],
  ])('%s needs %s, and reads nothing of the body without it', async (method, action) => {
    const { call } = await inventoryCalls({ authorize: (request) => request.action !== action });
    const rejected = await call(method, target(), { body: 'no XML' });
    expect(rejected).toMatchObject({ status: 403, code: 'AccessDenied', bytesRead: 0 });
  });

  it('must be allowed to write the reports', async () => {
    const asked: string[] = [];
    const { call } = await inventoryCalls({
      authorize: ({ action, resource }) => {
        if (action === 's3:PutObject') asked.push(resource);
        return action !== 's3:PutObject';
      },
    });
    expect(await call('PUT', target(), { body: document() })).toMatchObject({ code: 'AccessDenied' });
    expect(await call('PUT', target(), { body: document('daily', '', 'absent') })).toMatchObject({
      code: 'AccessDenied',
    });
    expect(asked).toEqual(['reports/of/bucket/daily/', 'absent/of/bucket/daily/']);
  });

  it('is decided with the fields that they ask for', async () => {
    const { call } = await inventoryCalls({
      authorize: ({ action, context, unknown }) =>
        action !== 's3:PutInventoryConfiguration' ||
        unknown !== undefined ||
        context['s3:InventoryAccessibleOptionalFields']?.includes('ObjectOwner') !== true,
    });
    expect(await call('PUT', target(), { body: document('daily', fields('ObjectOwner')) })).toMatchObject({
      status: 403,
    });
    expect(await call('PUT', target(), { body: document('daily', fields('Size')) })).toMatchObject({ status: 200 });
  });
});
