import { beforeEach, describe, expect, it } from 'vitest';
import { testCalls, type CallOptions, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

const dayMs = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString();
const later = inDays(10);

let calls: TestCalls;
let denied: string[];
let asked: { readonly action: string; readonly context: Readonly<Record<string, readonly string[]>> }[];
beforeEach(async () => {
  denied = [];
  asked = [];
  calls = await testCalls({
    authorize: ({ action, context }) => {
      asked.push({ action, context });
      return !denied.includes(action);
    },
  });
  await calls.layer.createBucket('locked', { location: '', objectLock: true });
  await calls.call('PUT', '/locked/key', { body: 'content' });
  await calls.call('PUT', '/bucket/key', { body: 'content' });
});

const code = async (method: string, target: string, more: CallOptions = {}) =>
  (await calls.call(method, target, more)).code;
const retention = (mode: string, until: string) =>
  `<Retention><Mode>${mode}</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`;
const hold = (status: string) => `<LegalHold><Status>${status}</Status></LegalHold>`;
const rule = (content: string) =>
  `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled>${content}</ObjectLockConfiguration>`;
const byDefault = (content: string) => rule(`<Rule><DefaultRetention>${content}</DefaultRetention></Rule>`);
const lockHeaders = (mode: string, until: string) => ({
  'x-amz-object-lock-mode': mode,
  'x-amz-object-lock-retain-until-date': until,
});
const crc32 = { 'x-amz-checksum-crc32': '/sUwqQ==' };
const put = (key: string, headers: Record<string, string> = {}) =>
  calls.call('PUT', `/locked/${key}`, { body: 'content', headers: { ...crc32, ...headers } });
const lockOf = (key: string) => calls.layer.getObjectLock('locked', key);
const versionOf = async (key: string) => (await calls.call('HEAD', `/locked/${key}`)).headers['x-amz-version-id'] ?? '';
const bypass = { 'x-amz-bypass-governance-retention': 'true' };

const head = async (key: string) => (await calls.call('HEAD', `/locked/${key}`)).headers;

describe('a HEAD by a caller who may not read the lock', () => {
  it('names what it hides, so that no copy takes it for absent', async () => {
    await put('whole', {
      ...lockHeaders('GOVERNANCE', later),
      'x-amz-object-lock-legal-hold': 'ON',
      'x-amz-tagging': 'a=b',
    });
    expect((await head('whole'))['x-coffer-hidden']).toBeUndefined();
    denied = ['s3:GetObjectRetention'];
    expect((await head('whole'))['x-coffer-hidden']).toBe('retention');
    denied = ['s3:GetObjectRetention', 's3:GetObjectLegalHold', 's3:GetObjectTagging'];
    expect(await head('whole')).toMatchObject({ 'x-coffer-hidden': 'tags, retention, legal-hold' });
    expect(await head('whole')).not.toHaveProperty('x-amz-object-lock-mode');
  });

  it('names nothing where there is nothing, or a hold that is off', async () => {
    await put('off', { 'x-amz-object-lock-legal-hold': 'OFF' });
    denied = ['s3:GetObjectRetention', 's3:GetObjectLegalHold', 's3:GetObjectTagging'];
    expect((await head('off'))['x-coffer-hidden']).toBeUndefined();
    expect((await head('key'))['x-coffer-hidden']).toBeUndefined();
  });
});

describe('the configuration of a bucket', () => {
  it('is not there without object lock', async () => {
    expect(await calls.call('GET', '/bucket?object-lock')).toMatchObject({
      status: 404,
      code: 'ObjectLockConfigurationNotFoundError',
    });
  });

  it.each([
    ['without a default', rule('')],
    ['with days', byDefault('<Mode>GOVERNANCE</Mode><Days>36500</Days>')],
    ['with years', byDefault('<Mode>COMPLIANCE</Mode><Years>100</Years>')],
  ])('is answered as it was put, %s', async (_, body) => {
    expect((await calls.call('PUT', '/locked?object-lock', { body })).status).toBe(200);
    const { body: answer } = await calls.call('GET', '/locked?object-lock');
    expect(answer.replace(/^.*\n/, '').replace(/ xmlns="[^"]*"/, '')).toBe(body);
  });

  it.each<[string, string, number, string]>([
    ['no days', byDefault('<Mode>GOVERNANCE</Mode>'), 400, 'MalformedXML'],
    ['days and years', byDefault('<Mode>GOVERNANCE</Mode><Days>1</Days><Years>1</Years>'), 400, 'MalformedXML'],
    ['no mode', byDefault('<Days>1</Days>'), 400, 'MalformedXML'],
    ['an unknown mode', byDefault('<Mode>governance</Mode><Days>1</Days>'), 400, 'MalformedXML'],
    ['no days at all', byDefault('<Mode>GOVERNANCE</Mode><Days>0</Days>'), 400, 'InvalidRetentionPeriod'],
    ['negative years', byDefault('<Mode>GOVERNANCE</Mode><Years>-1</Years>'), 400, 'InvalidRetentionPeriod'],
    ['too many days', byDefault('<Mode>GOVERNANCE</Mode><Days>36501</Days>'), 400, 'InvalidArgument'],
    ['too many years', byDefault('<Mode>GOVERNANCE</Mode><Years>101</Years>'), 400, 'InvalidArgument'],
    ['days that are no number', byDefault('<Mode>GOVERNANCE</Mode><Days>1.5</Days>'), 400, 'MalformedXML'],
    ['an empty rule', rule('<Rule/>'), 400, 'MalformedXML'],
    [
      'Disabled',
      '<ObjectLockConfiguration><ObjectLockEnabled>Disabled</ObjectLockEnabled></ObjectLockConfiguration>',
      400,
      'MalformedXML',
    ],
    ['no state', '<ObjectLockConfiguration/>', 400, 'MalformedXML'],
    ['no body', '', 400, 'MissingRequestBodyError'],
    ['an unknown element', rule('<Forever/>'), 400, 'MalformedXML'],
    ['an event hold', byDefault('<Mode>GOVERNANCE</Mode><Days>1</Days><DefaultEventHold/>'), 501, 'NotImplemented'],
  ])('is refused with %s', async (_, body, status, expected) => {
    expect(await calls.call('PUT', '/locked?object-lock', { body })).toMatchObject({ status, code: expected });
  });

  it('needs versions', async () => {
    expect(await calls.call('PUT', '/bucket?object-lock', { body: rule('') })).toMatchObject({
      status: 409,
      code: 'InvalidBucketState',
    });
    await calls.layer.putBucketVersioning('bucket', { status: 'Enabled' });
    expect(await code('PUT', '/bucket?object-lock', { body: rule('') })).toBeUndefined();
  });

  it('takes no token', async () => {
    const headers = { 'x-amz-bucket-object-lock-token': 'token' };
    expect(await code('PUT', '/locked?object-lock', { headers, body: rule('') })).toBe('NotImplemented');
  });

  it.each([
    ['GET', 's3:GetBucketObjectLockConfiguration'],
    ['PUT', 's3:PutBucketObjectLockConfiguration'],
  ])('needs the permission: %s', async (method, action) => {
    denied = [action];
    expect(await code(method, '/locked?object-lock', { body: method === 'PUT' ? rule('') : '' })).toBe('AccessDenied');
  });

  it('gives new versions its retention, beside the legal hold of their headers', async () => {
    await calls.call('PUT', '/locked?object-lock', { body: byDefault('<Mode>GOVERNANCE</Mode><Days>1</Days>') });
    await put('held', { 'x-amz-object-lock-legal-hold': 'ON' });
    const { retention: given, legalHold } = await lockOf('held');
    expect([given?.mode, legalHold]).toEqual(['GOVERNANCE', true]);
    const { headers } = await calls.call('HEAD', '/locked/held');
    const until = new Date(headers['x-amz-object-lock-retain-until-date'] ?? '').getTime();
    expect(Math.abs(until - Date.now() - dayMs)).toBeLessThan(60_000);
    await put('own', lockHeaders('COMPLIANCE', later));
    expect((await lockOf('own')).retention).toEqual({ mode: 'COMPLIANCE', until: new Date(later) });
  });
});

const putRetention = (body: string, headers: Record<string, string> = {}) =>
  calls.call('PUT', '/locked/key?retention', { body, headers });

describe('the retention of a version', () => {
  it('is set, and told by GET and HEAD', async () => {
    expect((await putRetention(retention('GOVERNANCE', later))).status).toBe(200);
    expect((await calls.call('GET', '/locked/key?retention')).body).toContain(
      `<Mode>GOVERNANCE</Mode><RetainUntilDate>${later}</RetainUntilDate>`,
    );
    for (const method of ['GET', 'HEAD']) {
      expect((await calls.call(method, '/locked/key')).headers).toMatchObject(lockHeaders('GOVERNANCE', later));
    }
  });

  it('is told only to a caller who may read it', async () => {
    await putRetention(retention('GOVERNANCE', later));
    denied = ['s3:GetObjectRetention'];
    const { headers } = await calls.call('GET', '/locked/key');
    expect(headers['x-amz-object-lock-mode']).toBeUndefined();
    expect(headers['x-amz-object-lock-retain-until-date']).toBeUndefined();
  });

  it.each<[string, string, number, string]>([
    ['a past date', retention('GOVERNANCE', inDays(-1)), 400, 'InvalidArgument'],
    ['an unknown mode', retention('governance', later), 400, 'MalformedXML'],
    ['a mode alone', '<Retention><Mode>GOVERNANCE</Mode></Retention>', 400, 'MalformedXML'],
    ['a date alone', `<Retention><RetainUntilDate>${later}</RetainUntilDate></Retention>`, 400, 'MalformedXML'],
    ['a date that no calendar has', retention('GOVERNANCE', '2030-02-30T00:00:00Z'), 400, 'MalformedXML'],
    ['a date without a zone', retention('GOVERNANCE', '2030-01-01T00:00:00'), 400, 'MalformedXML'],
    ['a date without a time', retention('GOVERNANCE', '2030-01-01'), 400, 'MalformedXML'],
    ['a word as date', retention('GOVERNANCE', 'tomorrow'), 400, 'MalformedXML'],
    ['an event hold', '<Retention><EventHold>ON</EventHold></Retention>', 501, 'NotImplemented'],
    ['no body', '', 400, 'MissingRequestBodyError'],
  ])('is refused with %s', async (_, body, status, expected) => {
    expect(await putRetention(body)).toMatchObject({ status, code: expected });
    expect(await lockOf('key')).toEqual({});
  });

  it.each([
    '2036-01-01T00:00:00Z',
    '2036-01-01T00:00:00.123456Z',
    '2036-01-01T01:00:00+01:00',
    '2036-01-01T01:00:00+0100',
  ])('takes %s', async (until) => {
    expect(await putRetention(retention('GOVERNANCE', until))).toMatchObject({ status: 200 });
    expect((await lockOf('key')).retention?.until.toISOString()).toMatch(/^2036-01-01T00:00:00/);
  });

  const earlier = inDays(5);
  const muchLater = inDays(20);
  it.each<[string, string, string, boolean, string | undefined]>([
    ['GOVERNANCE is extended', 'GOVERNANCE', retention('GOVERNANCE', muchLater), false, undefined],
    ['GOVERNANCE is not shortened', 'GOVERNANCE', retention('GOVERNANCE', earlier), false, 'AccessDenied'],
    ['GOVERNANCE does not change its mode', 'GOVERNANCE', retention('COMPLIANCE', muchLater), false, 'AccessDenied'],
    ['GOVERNANCE is not removed', 'GOVERNANCE', '<Retention/>', false, 'AccessDenied'],
    ['GOVERNANCE is shortened by a bypass', 'GOVERNANCE', retention('GOVERNANCE', earlier), true, undefined],
    ['GOVERNANCE changes its mode by a bypass', 'GOVERNANCE', retention('COMPLIANCE', earlier), true, undefined],
    ['GOVERNANCE is removed by a bypass', 'GOVERNANCE', '<Retention/>', true, undefined],
    ['COMPLIANCE is extended', 'COMPLIANCE', retention('COMPLIANCE', muchLater), false, undefined],
    ['COMPLIANCE is not shortened', 'COMPLIANCE', retention('COMPLIANCE', earlier), true, 'AccessDenied'],
    ['COMPLIANCE does not change its mode', 'COMPLIANCE', retention('GOVERNANCE', muchLater), true, 'AccessDenied'],
    ['COMPLIANCE is not removed', 'COMPLIANCE', '<Retention/>', true, 'AccessDenied'],
  ])('%s', async (_, mode, change, isBypassed, expected) => {
    await putRetention(retention(mode, later));
    expect((await putRetention(change, isBypassed ? bypass : {})).code).toBe(expected);
    if (isBypassed) {
      denied = ['s3:BypassGovernanceRetention'];
      await calls.call('PUT', '/locked/other', { body: 'content', headers: { ...crc32, ...lockHeaders(mode, later) } });
      expect(await code('PUT', '/locked/other?retention', { body: change, headers: bypass })).toBe('AccessDenied');
    }
  });

  it('sets condition keys', async () => {
    await putRetention(retention('GOVERNANCE', later));
    expect(asked.findLast(({ action }) => action === 's3:PutObjectRetention')?.context).toMatchObject({
      's3:object-lock-mode': ['GOVERNANCE'],
      's3:object-lock-retain-until-date': [later],
      's3:object-lock-remaining-retention-days': ['10'],
    });
  });

  it('needs the permissions', async () => {
    denied = ['s3:PutObjectRetention', 's3:GetObjectRetention'];
    const reply = await putRetention(retention('GOVERNANCE', later));
    expect([reply.code, reply.bytesRead]).toEqual(['AccessDenied', 0]);
    expect(await code('GET', '/locked/key?retention')).toBe('AccessDenied');
  });

  it('is not there before it is set', async () => {
    expect(await calls.call('GET', '/locked/key?retention')).toMatchObject({
      status: 404,
      code: 'NoSuchObjectLockConfiguration',
    });
  });
});

describe('the legal hold of a version', () => {
  it('is set and removed', async () => {
    expect(await code('GET', '/locked/key?legal-hold')).toBe('NoSuchObjectLockConfiguration');
    for (const status of ['ON', 'OFF']) {
      expect((await calls.call('PUT', '/locked/key?legal-hold', { body: hold(status) })).status).toBe(200);
      expect((await calls.call('GET', '/locked/key?legal-hold')).body).toContain(`<Status>${status}</Status>`);
      expect((await calls.call('HEAD', '/locked/key')).headers['x-amz-object-lock-legal-hold']).toBe(status);
    }
  });

  it.each([hold('abc'), hold('on'), hold(''), '<LegalHold/>', '<Retention/>'])('is refused: %j', async (body) => {
    expect(await calls.call('PUT', '/locked/key?legal-hold', { body })).toMatchObject({
      status: 400,
      code: 'MalformedXML',
    });
  });

  it('needs the permissions, and sets a condition key', async () => {
    await calls.call('PUT', '/locked/key?legal-hold', { body: hold('ON') });
    expect(asked.at(-1)).toMatchObject({
      action: 's3:PutObjectLegalHold',
      context: { 's3:object-lock-legal-hold': ['ON'] },
    });
    denied = ['s3:PutObjectLegalHold', 's3:GetObjectLegalHold'];
    expect(await code('PUT', '/locked/key?legal-hold', { body: hold('OFF') })).toBe('AccessDenied');
    expect(await code('GET', '/locked/key?legal-hold')).toBe('AccessDenied');
    expect((await calls.call('HEAD', '/locked/key')).headers['x-amz-object-lock-legal-hold']).toBeUndefined();
  });

  it('holds against a bypass', async () => {
    const versionId = await versionOf('key');
    await calls.call('PUT', '/locked/key?legal-hold', { body: hold('ON') });
    const target = `/locked/key?versionId=${versionId}`;
    expect(await code('DELETE', target, { headers: bypass })).toBe('AccessDenied');
    await calls.call('PUT', '/locked/key?legal-hold', { body: hold('OFF') });
    expect(await code('DELETE', target)).toBeUndefined();
  });
});

describe('a bucket without object lock', () => {
  it.each([
    ['GET', 'retention', ''],
    ['PUT', 'retention', retention('GOVERNANCE', later)],
    ['GET', 'legal-hold', ''],
    ['PUT', 'legal-hold', hold('ON')],
  ])('refuses %s %s', async (method, subresource, body) => {
    expect(await calls.call(method, `/bucket/key?${subresource}`, { body })).toMatchObject({
      status: 400,
      code: 'InvalidRequest',
      body: expect.stringContaining('Bucket is missing Object Lock Configuration') as string,
    });
  });

  it('refuses the headers', async () => {
    const headers = { ...crc32, ...lockHeaders('GOVERNANCE', later) };
    expect(await code('PUT', '/bucket/key', { body: 'content', headers })).toBe('InvalidRequest');
    expect(await code('POST', '/bucket/key?uploads', { headers: lockHeaders('GOVERNANCE', later) })).toBe(
      'InvalidRequest',
    );
  });
});

describe('the headers of a lock', () => {
  it.each<[string, Record<string, string>, RegExp]>([
    ['a mode alone', { 'x-amz-object-lock-mode': 'GOVERNANCE' }, /must both be supplied/],
    ['a date alone', { 'x-amz-object-lock-retain-until-date': later }, /must both be supplied/],
    ['an unknown mode', lockHeaders('governance', later), /Unknown wormMode directive/],
    ['a word as date', lockHeaders('GOVERNANCE', 'abc'), /ISO 8601/],
    ['a date that no calendar has', lockHeaders('GOVERNANCE', '2031-04-31T00:00:00Z'), /ISO 8601/],
    ['a past date', lockHeaders('GOVERNANCE', inDays(-1)), /must be in the future/],
    ['an unknown legal hold', { 'x-amz-object-lock-legal-hold': 'on' }, /either of 'ON' or 'OFF'/],
  ])('are refused with %s', async (_, headers, message) => {
    const copy = { 'x-amz-copy-source': '/locked/key', ...headers };
    const replies = [
      await put('new', headers),
      await calls.call('POST', '/locked/new?uploads', { headers }),
      await calls.call('PUT', '/locked/new', { headers: copy }),
    ];
    for (const { code: refusal, body } of replies) {
      expect([refusal, body]).toEqual(['InvalidArgument', expect.stringMatching(message)]);
    }
    expect(await code('GET', '/locked/new')).toBe('NoSuchKey');
  });

  it('need no digest of the body', async () => {
    const headers = lockHeaders('GOVERNANCE', later);
    expect(await calls.call('PUT', '/locked/new', { body: 'content', headers })).toMatchObject({ status: 200 });
    expect((await calls.call('HEAD', '/locked/new')).headers).toMatchObject(headers);
  });

  it('may name a date after 100 years', async () => {
    const headers = lockHeaders('COMPLIANCE', '2140-01-01T00:00:00.000Z');
    expect(await put('new', headers)).toMatchObject({ status: 200 });
    expect((await calls.call('HEAD', '/locked/new')).headers).toMatchObject(headers);
    expect(
      await code(
        'DELETE',
        `/locked/new?versionId=${(await calls.call('HEAD', '/locked/new')).headers['x-amz-version-id']}`,
      ),
    ).toBe('AccessDenied');
  });

  it.each([
    ['s3:PutObjectRetention', lockHeaders('GOVERNANCE', later)],
    ['s3:PutObjectLegalHold', { 'x-amz-object-lock-legal-hold': 'OFF' }],
  ])('need %s', async (action, headers) => {
    denied = [action];
    expect((await put('new', headers)).code).toBe('AccessDenied');
    expect(await code('POST', '/locked/new?uploads', { headers })).toBe('AccessDenied');
    expect((await put('new')).code).toBeUndefined();
  });

  it('set condition keys', async () => {
    await put('new', { ...lockHeaders('GOVERNANCE', later), 'x-amz-object-lock-legal-hold': 'ON' });
    expect(asked.find(({ context }) => context['s3:object-lock-mode'] !== undefined)).toMatchObject({
      action: 's3:PutObject',
      context: {
        's3:object-lock-mode': ['GOVERNANCE'],
        's3:object-lock-legal-hold': ['ON'],
        's3:object-lock-remaining-retention-days': ['10'],
      },
    });
  });

  it('lock a copy, which has not the lock of its source', async () => {
    await put('source', lockHeaders('COMPLIANCE', later));
    await calls.call('PUT', '/locked/copy', { headers: { 'x-amz-copy-source': '/locked/source' } });
    expect(await lockOf('copy')).toEqual({});
    const headers = { 'x-amz-copy-source': '/locked/source', 'x-amz-object-lock-legal-hold': 'ON' };
    expect(await code('PUT', '/locked/copy', { headers })).toBeUndefined();
    expect(await lockOf('copy')).toEqual({ legalHold: true });
  });

  it.each(['GET', 'DELETE'])('are refused where they lock nothing: %s', async (method) => {
    expect(await code(method, '/locked/key', { headers: lockHeaders('GOVERNANCE', later) })).toBe('NotImplemented');
  });
});

describe('a locked version', () => {
  it.each(['GOVERNANCE', 'COMPLIANCE'])('is not deleted before its end: %s', async (mode) => {
    await put('kept', lockHeaders(mode, later));
    const versionId = await versionOf('kept');
    const target = `/locked/kept?versionId=${versionId}`;
    expect(await calls.call('DELETE', target)).toMatchObject({ status: 403, code: 'AccessDenied' });
    const body = `<Delete><Object><Key>kept</Key><VersionId>${versionId}</VersionId></Object></Delete>`;
    expect((await calls.call('POST', '/locked?delete', { body })).body).toContain('<Code>AccessDenied</Code>');
    expect(await code('GET', target)).toBeUndefined();
  });

  it('is hidden by a delete marker', async () => {
    await put('kept', lockHeaders('COMPLIANCE', later));
    const versionId = await versionOf('kept');
    expect((await calls.call('DELETE', '/locked/kept')).headers['x-amz-delete-marker']).toBe('true');
    expect(await code('GET', `/locked/kept?versionId=${versionId}`)).toBeUndefined();
  });

  it('of GOVERNANCE is deleted by a bypass with its permission', async () => {
    await put('kept', lockHeaders('GOVERNANCE', later));
    const target = `/locked/kept?versionId=${await versionOf('kept')}`;
    denied = ['s3:BypassGovernanceRetention'];
    expect(await code('DELETE', target, { headers: bypass })).toBe('AccessDenied');
    denied = [];
    expect(await code('DELETE', target, { headers: { 'x-amz-bypass-governance-retention': 'false' } })).toBe(
      'AccessDenied',
    );
    expect(await code('DELETE', target, { headers: bypass })).toBeUndefined();
  });

  it('of GOVERNANCE is deleted by DeleteObjects with a bypass', async () => {
    await put('kept', lockHeaders('GOVERNANCE', later));
    const versionId = await versionOf('kept');
    const body = `<Delete><Object><Key>kept</Key><VersionId>${versionId}</VersionId></Object></Delete>`;
    denied = ['s3:BypassGovernanceRetention'];
    expect((await calls.call('POST', '/locked?delete', { body, headers: bypass })).body).toContain('AccessDenied');
    denied = [];
    expect((await calls.call('POST', '/locked?delete', { body, headers: bypass })).body).toContain('<Deleted>');
    expect(asked.at(-1)).toMatchObject({
      action: 's3:BypassGovernanceRetention',
      context: { 's3:versionid': [versionId] },
    });
  });

  it('of COMPLIANCE is not deleted by root with a bypass, nor is its bucket', async () => {
    await put('kept', lockHeaders('COMPLIANCE', later));
    const target = `/locked/kept?versionId=${await versionOf('kept')}`;
    expect(await code('DELETE', target, { headers: bypass })).toBe('AccessDenied');
    await calls.call('DELETE', '/locked/kept');
    expect(await code('DELETE', '/locked')).toBe('BucketNotEmpty');
  });

  it('may be tagged', async () => {
    await put('kept', lockHeaders('COMPLIANCE', later));
    const body = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>';
    expect(await code('PUT', '/locked/kept?tagging', { body })).toBeUndefined();
    expect((await lockOf('kept')).retention?.mode).toBe('COMPLIANCE');
  });
});
