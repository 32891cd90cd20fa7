import { describe, expect, it } from 'vitest';
import type { S3Client, S3Request } from './client.ts';
import {
  getLifecycle,
  putLifecycle,
  readLifecycleDocument,
  writeLifecycleDocument,
  type LifecycleRuleFields,
} from './lifecycle-document.ts';

const rules: readonly LifecycleRuleFields[] = [
  { ID: 'days', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 3 } },
  {
    ID: 'tags',
    Status: 'Disabled',
    Filter: {
      And: {
        Prefix: 'p',
        Tags: [
          { Key: 'k', Value: 'v & w' },
          { Key: 'l', Value: '1' },
        ],
        ObjectSizeLessThan: 9,
      },
    },
    NoncurrentVersionExpiration: { NoncurrentDays: 2, NewerNoncurrentVersions: 4 },
  },
  {
    ID: 'tag',
    Status: 'Enabled',
    Filter: { Tag: { Key: 'k', Value: 'v' } },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
  },
  {
    ID: 'tier',
    Status: 'Enabled',
    Transition: { Days: 0, StorageClass: 'WARM' },
    NoncurrentVersionTransition: { NoncurrentDays: 5, StorageClass: 'COLD' },
  },
  { ID: 'date', Status: 'Enabled', Expiration: { Date: '2030-01-01T00:00:00Z', ExpiredObjectAllVersions: true } },
  { ID: 'markers', Status: 'Enabled', Expiration: { ExpiredObjectDeleteMarker: true } },
];

describe('the document of lifecycle rules', () => {
  it.each(rules)('keeps the rule $ID', (rule) => {
    expect(readLifecycleDocument(writeLifecycleDocument([rule]))).toEqual([rule]);
  });

  it('names an empty prefix where a rule has no filter', () => {
    expect(writeLifecycleDocument([{ ID: 'all', Status: 'Enabled', Expiration: { Days: 1 } }])).toContain(
      '<Filter><Prefix/></Filter>',
    );
  });

  it('refuses another document', () => {
    expect(() => readLifecycleDocument('<Other/>')).toThrow('LifecycleConfiguration');
  });
});

describe('a change of rules', () => {
  const minimum = 'x-amz-transition-default-minimum-object-size';

  it.each([
    ['keeps the smallest object of transitions', { [minimum]: 'all_storage_classes_128K' }],
    ['names none where the server does not', {}],
  ])('%s', async (_what, headers: Record<string, string>) => {
    const sent: S3Request[] = [];
    const text = (request: S3Request) => {
      sent.push(request);
      return Promise.resolve({ headers, text: writeLifecycleDocument(rules.slice(0, 1)) });
    };
    const client = { text } as unknown as S3Client;
    await putLifecycle(client, 'bucket', await getLifecycle(client, 'bucket'));
    expect(sent.map(({ method }) => method)).toEqual(['GET', 'PUT']);
    expect(sent[1]?.headers?.[minimum]).toBe(headers[minimum]);
  });
});
