import { beforeEach, describe, expect, it } from 'vitest';
import type { ListedDetails } from '../../objects/contract/object-layer.ts';
import { testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';
import type { S3Call } from '../operation.ts';
import { furtherElements } from './optional-attributes.ts';

const asked = { 'x-amz-optional-object-attributes': 'RestoreStatus' };
let calls: TestCalls;
beforeEach(async () => {
  calls = await testCalls();
  await calls.call('PUT', '/bucket/key', { body: 'content' });
});

describe('the state of restored objects in a listing', () => {
  it.each(['', 'list-type=2', 'versions'])('is left out for an object that was not restored: ?%s', async (query) => {
    const plain = await calls.call('GET', `/bucket?${query}`);
    const listed = await calls.call('GET', `/bucket?${query}`, { headers: asked });
    expect(listed).toMatchObject({ status: 200, body: plain.body });
  });

  it.each(['', 'list-type=2', 'versions'])('is the only attribute: ?%s', async (query) => {
    const headers = { 'x-amz-optional-object-attributes': 'RestoreStatus,Other' };
    expect(await calls.call('GET', `/bucket?${query}`, { headers })).toMatchObject({
      status: 400,
      code: 'InvalidArgument',
    });
  });

  it.each([
    [
      'in progress',
      { ongoing: true } as const,
      '<RestoreStatus><IsRestoreInProgress>true</IsRestoreInProgress></RestoreStatus>',
    ],
    [
      'restored',
      { ongoing: false, until: new Date('2026-01-02T00:00:00Z') } as const,
      '<RestoreStatus><IsRestoreInProgress>false</IsRestoreInProgress><RestoreExpiryDate>2026-01-02T00:00:00.000Z</RestoreExpiryDate></RestoreStatus>',
    ],
  ])('shows what is %s', async (_what, restore, text) => {
    const details = { restore } as unknown as ListedDetails;
    const common = { size: 1, etag: '', modified: 0, encrypted: false, checksum: undefined, damage: undefined };
    const object = { key: 'k', ...common, storageClass: 'COLD', details };
    const wanted = { metadata: false, restoreStatus: true };
    const found = await furtherElements({} as S3Call, [object], wanted);
    expect(found?.get(object)).toEqual([text]);
  });
});
