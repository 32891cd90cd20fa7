import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isInventoryId,
  inventoryFields,
  type InventoryConfiguration,
  parseInventory,
  writeInventories,
  writeInventory,
} from './bucket-inventory.ts';
import { S3Error } from './s3-error.ts';

const destination = (inside = '') =>
  `<Destination><S3BucketDestination><Format>CSV</Format><Bucket>arn:aws:s3:::reports</Bucket>${inside}</S3BucketDestination></Destination>`;
const parts = {
  Id: '<Id>a</Id>',
  IsEnabled: '<IsEnabled>true</IsEnabled>',
  Destination: destination(),
  Schedule: '<Schedule><Frequency>Daily</Frequency></Schedule>',
  IncludedObjectVersions: '<IncludedObjectVersions>Current</IncludedObjectVersions>',
};
const document = (changed: Partial<Record<keyof typeof parts | 'more', string>> = {}) =>
  `<InventoryConfiguration>${Object.values({ ...parts, ...changed }).join('')}</InventoryConfiguration>`;

function codeOf(body: string): string {
  try {
    parseInventory(body, 'a');
    return 'accepted';
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
}

describe('an inventory configuration', () => {
  it('needs little', () => {
    expect(parseInventory(document(), 'a')).toEqual({
      id: 'a',
      enabled: true,
      destination: { bucket: 'reports', format: 'CSV' },
      frequency: 'Daily',
      versions: 'Current',
      fields: [],
    });
  });

  it('reads the ARN of a key as its name', () => {
    const inside = '<Encryption><SSE-KMS><KeyId>arn:aws:kms:eu:1:key/my-key</KeyId></SSE-KMS></Encryption>';
    const { encryption } = parseInventory(document({ Destination: destination(inside) }), 'a').destination;
    expect(encryption).toEqual({ scheme: 'SSE-KMS', keyName: 'my-key' });
  });

  const prefix = fc.option(fc.string({ unit: 'grapheme-ascii', maxLength: 100 }), { nil: undefined });
  const configurations = fc.record(
    {
      id: fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/),
      enabled: fc.boolean(),
      prefix,
      destination: fc.record(
        {
          bucket: fc.constant('reports.example'),
          prefix,
          format: fc.constantFrom('CSV', 'Parquet'),
          accountId: fc.constant('000000000000'),
          encryption: fc.constantFrom({ scheme: 'SSE-S3' }, { scheme: 'SSE-KMS', keyName: 'key' }),
        },
        { requiredKeys: ['bucket', 'format'] },
      ),
      frequency: fc.constantFrom('Daily', 'Weekly'),
      versions: fc.constantFrom('All', 'Current'),
      fields: fc.uniqueArray(fc.constantFrom(...inventoryFields)),
    },
    { requiredKeys: ['id', 'enabled', 'destination', 'frequency', 'versions', 'fields'] },
  );

  it('is written as it is read', () => {
    fc.assert(
      fc.property(configurations, (given) => {
        const configuration = JSON.parse(JSON.stringify(given)) as InventoryConfiguration;
        expect(parseInventory(writeInventory(configuration), configuration.id)).toEqual(configuration);
      }),
    );
  });

  it.each<[string, string, string]>([
    ['another ID than that of the request', document({ Id: '<Id>b</Id>' }), 'IdMismatch'],
    ['no ID', document({ Id: '' }), 'MalformedXML'],
    ['an unknown element', document({ more: '<Other/>' }), 'MalformedXML'],
    ['an element twice', document({ more: parts.Schedule }), 'MalformedXML'],
    ['neither true nor false', document({ IsEnabled: '<IsEnabled>yes</IsEnabled>' }), 'MalformedXML'],
    ['no destination', document({ Destination: '<Destination/>' }), 'MalformedXML'],
    [
      'a bucket without its ARN',
      document({ Destination: destination().replace('arn:aws:s3:::', '') }),
      'InvalidS3DestinationBucket',
    ],
    [
      'an ARN of an object',
      document({ Destination: destination().replace('reports', 'reports/a') }),
      'InvalidS3DestinationBucket',
    ],
    ['the format ORC', document({ Destination: destination().replace('CSV', 'ORC') }), 'NotImplemented'],
    ['an unknown format', document({ Destination: destination().replace('CSV', 'XLS') }), 'MalformedXML'],
    [
      'two encryptions',
      document({ Destination: destination('<Encryption><SSE-S3/><SSE-KMS><KeyId>k</KeyId></SSE-KMS></Encryption>') }),
      'MalformedXML',
    ],
    ['an empty encryption', document({ Destination: destination('<Encryption/>') }), 'MalformedXML'],
    [
      'an unknown frequency',
      document({ Schedule: '<Schedule><Frequency>Hourly</Frequency></Schedule>' }),
      'MalformedXML',
    ],
    ['an unknown field', document({ more: '<OptionalFields><Field>Color</Field></OptionalFields>' }), 'MalformedXML'],
    [
      'a field twice',
      document({ more: '<OptionalFields><Field>Size</Field><Field>Size</Field></OptionalFields>' }),
      'MalformedXML',
    ],
    [
      'a field that is not implemented',
      document({ more: '<OptionalFields><Field>LifecycleExpirationDate</Field></OptionalFields>' }),
      'NotImplemented',
    ],
    ['a filter by tags', document({ more: '<Filter><Tag/></Filter>' }), 'MalformedXML'],
    ['a long prefix', document({ more: `<Filter><Prefix>${'a'.repeat(513)}</Prefix></Filter>` }), 'InvalidArgument'],
    ['a prefix of 512 bytes', document({ more: `<Filter><Prefix>${'a'.repeat(512)}</Prefix></Filter>` }), 'accepted'],
  ])('with %s: %s', (_what, body, code) => {
    expect(codeOf(body)).toBe(code);
  });

  it('of any bytes is read, or refused by an S3 error', () => {
    const texts = ['<Id>', '</Id>', '<Destination>', '<Field>', 'CSV', '&amp;', '<', '>', document(), destination()];
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...texts), fc.string()), { maxLength: 20 }), (chosen) => {
        codeOf(chosen.join(''));
      }),
    );
  });
});

describe('the ID of a configuration', () => {
  it.each(['', 'a b', 'ä', 'a/b', 'a'.repeat(65)])('cannot be %j', (id) => {
    expect(isInventoryId(id)).toBe(false);
  });

  it('may have 64 characters', () => {
    expect(isInventoryId('a'.repeat(64))).toBe(true);
  });
});

describe('a page of configurations', () => {
  it('has the token of the next one', () => {
    const page = writeInventories([parseInventory(document(), 'a')], { token: 't', next: 'n' });
    expect(page).toContain('<ContinuationToken>t</ContinuationToken><InventoryConfiguration><Id>a</Id>');
    expect(page).toContain('<IsTruncated>true</IsTruncated><NextContinuationToken>n</NextContinuationToken>');
  });
});
