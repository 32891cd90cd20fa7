import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBucketEncryption } from '../../protocol/s3/bucket-encryption.ts';
import { parseObjectLockConfiguration } from '../../protocol/s3/object-lock.ts';
import { elementAt, readEditable, textAt, without } from '../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../protocol/s3/xml-reader.ts';
import {
  encryptionDocuments,
  objectLockDocuments,
  versioningDocuments,
} from '../../test/support/s3-documents/bucket-settings.ts';
import { withForeignElements } from '../../test/support/s3-documents/foreign-elements.ts';
import { notificationDocuments } from '../../test/support/s3-documents/notification.ts';
import { withDefaultRetention, withoutDefaultRetention, withVersioning } from './bucket-settings.ts';
import { withDefaultEncryption, withoutDefaultEncryption } from './buckets.ts';
import { type NotificationRule, withNotification, withoutNotification, withoutNotifications } from './notifications.ts';

/** All that the server accepts, also with elements that no version of this program knows. */
const also = (documents: fc.Arbitrary<string>) => fc.oneof(documents, withForeignElements(documents));
const check = (documents: fc.Arbitrary<string>, property: (document: string) => void) =>
  fc.assert(fc.property(also(documents), property), { numRuns: 200 });

/** The document without the elements at these paths. */
const but = (document: string, ...paths: readonly (readonly string[])[]): XmlNode =>
  paths.reduce<XmlNode>((node, path) => {
    // `without` removes one of several elements.
    for (let at = node; ; at = node) {
      node = without(at, path);
      if (node === at) return node;
    }
  }, readEditable(document));

const childrenBut = ({ children }: XmlNode, names: readonly string[]) =>
  children.filter(({ name }) => !names.includes(name));
const status = (document: string) => textAt(readEditable(document), ['Status']);

describe('notifications', () => {
  const mine: NotificationRule = {
    kind: 'sqs',
    id: 'mine',
    arn: 'arn:minio:sqs::mine:webhook',
    events: ['s3:ObjectCreated:*'],
    prefix: 'in/',
    suffix: '.jpg',
  };

  it('have one more rule, and all others as they came', () => {
    check(notificationDocuments, (document) => {
      const before = readEditable(document).children;
      const after = readEditable(withNotification(document, mine)).children;
      expect(after.slice(0, -1)).toEqual(before);
      expect(after.at(-1)?.children[0]?.text).toBe('mine');
    });
  });

  it('are the same document again when the rule is removed', () => {
    check(notificationDocuments, (document) => {
      expect(withoutNotification(withNotification(document, mine), mine)).toBe(document);
      expect(withoutNotification(document, mine)).toBeUndefined();
    });
  });

  it('keep what is no rule when all rules are removed', () => {
    check(notificationDocuments, (document) => {
      const names = ['QueueConfiguration', 'TopicConfiguration', 'CloudFunctionConfiguration'];
      const others = childrenBut(readEditable(document), names);
      expect(readEditable(withoutNotifications(document)).children).toEqual(others);
    });
  });
});

describe('the default encryption', () => {
  const defaults = ['Rule', 'ApplyServerSideEncryptionByDefault'];
  const set = [
    [...defaults, 'SSEAlgorithm'],
    [...defaults, 'KMSMasterKeyID'],
  ];

  it('that is set as it is gives the same document', () => {
    check(encryptionDocuments, (document) => {
      const algorithm = textAt(readEditable(document), [...defaults, 'SSEAlgorithm']);
      if (algorithm === undefined) return;
      const keyName = textAt(readEditable(document), [...defaults, 'KMSMasterKeyID']);
      const scheme = algorithm === 'AES256' ? 'SSE-S3' : 'SSE-KMS';
      expect(withDefaultEncryption(document, { scheme, keyName })).toBe(document);
    });
  });

  it.each([{ scheme: 'SSE-S3' }, { scheme: 'SSE-KMS' }, { scheme: 'SSE-KMS', keyName: 'new' }] as const)(
    'becomes %j, and all else stays as it came',
    (rule) => {
      check(encryptionDocuments, (document) => {
        const after = withDefaultEncryption(document, rule);
        expect(but(after, ...set)).toEqual(but(document, ...set));
        expect(elementAt(readEditable(after), defaults)?.children.map(({ text }) => text)).toEqual(
          expect.arrayContaining([rule.scheme === 'SSE-S3' ? 'AES256' : 'aws:kms']),
        );
        expect(textAt(readEditable(after), [...defaults, 'KMSMasterKeyID'])).toBe(
          'keyName' in rule ? rule.keyName : undefined,
        );
      });
    },
  );

  it('that is cleared leaves what the bucket blocks, and what else stands beside it', () => {
    check(encryptionDocuments, (document) => {
      const after = withoutDefaultEncryption(document);
      const blocks = elementAt(readEditable(document), ['Rule', 'BlockedEncryptionTypes']) !== undefined;
      expect(after === undefined ? undefined : readEditable(after)).toEqual(
        blocks ? but(document, defaults) : undefined,
      );
    });
    fc.assert(
      fc.property(encryptionDocuments, (document) => {
        const after = withoutDefaultEncryption(document);
        const { blocked, bucketKey } = parseBucketEncryption(document);
        if (after !== undefined) expect(parseBucketEncryption(after)).toEqual({ scheme: 'none', blocked, bucketKey });
      }),
      { numRuns: 200 },
    );
  });
});

describe('the versioning', () => {
  it('that is enabled as it is gives the same document', () => {
    check(versioningDocuments, (document) => {
      if (status(document) === 'Enabled') expect(withVersioning(document, { status: 'Enabled' })).toBe(document);
    });
  });

  it('that is enabled keeps all else', () => {
    check(versioningDocuments, (document) => {
      const after = withVersioning(document, { status: 'Enabled' });
      expect(status(after)).toBe('Enabled');
      expect(but(after, ['Status'])).toEqual(but(document, ['Status']));
    });
  });

  it('that is suspended loses the excluded prefixes alone', () => {
    check(versioningDocuments, (document) => {
      const after = readEditable(withVersioning(document, { status: 'Suspended' }));
      const edited = ['Status', 'ExcludedPrefixes'];
      expect(childrenBut(after, edited)).toEqual(childrenBut(readEditable(document), edited));
      expect(textAt(after, ['Status'])).toBe('Suspended');
      expect(elementAt(after, ['ExcludedPrefixes'])).toBeUndefined();
    });
  });

  it('that excludes other prefixes keeps all else', () => {
    check(versioningDocuments, (document) => {
      const change = { status: 'Enabled', excludedPrefixes: ['a/', 'b/'], excludeFolders: true } as const;
      const after = readEditable(withVersioning(document, change));
      const edited = ['Status', 'ExcludedPrefixes', 'ExcludeFolders'];
      expect(childrenBut(after, edited)).toEqual(childrenBut(readEditable(document), edited));
      const prefixes = after.children.filter(({ name }) => name === 'ExcludedPrefixes');
      expect(prefixes.map((one) => textAt(one, ['Prefix']))).toEqual(['a/', 'b/']);
      expect(textAt(after, ['ExcludeFolders'])).toBe('true');
    });
  });
});

describe('the default retention', () => {
  const retention = ['Rule', 'DefaultRetention'];
  const set = ['Mode', 'Days', 'Years'].map((name) => [...retention, name]);

  it('that is set as it is gives the same document', () => {
    check(objectLockDocuments, (document) => {
      const root = readEditable(document);
      const [mode, days, years] = set.map((path) => textAt(root, path));
      if (mode !== 'GOVERNANCE' && mode !== 'COMPLIANCE') return;
      const period = days === undefined ? { years: Number(years) } : { days: Number(days) };
      expect(withDefaultRetention(document, { mode, ...period })).toBe(document);
    });
  });

  it.each([
    { mode: 'GOVERNANCE', days: 7 },
    { mode: 'COMPLIANCE', years: 3 },
  ] as const)('becomes %j, and all else stays as it came', (rule) => {
    check(objectLockDocuments, (document) => {
      const after = withDefaultRetention(document, rule);
      expect(but(after, ...set)).toEqual(but(document, ...set));
      const [mode, days, years] = set.map((path) => textAt(readEditable(after), path));
      expect([mode, days, years]).toEqual([
        rule.mode,
        'days' in rule ? String(rule.days) : undefined,
        'years' in rule ? String(rule.years) : undefined,
      ]);
    });
    fc.assert(
      fc.property(objectLockDocuments, (document) => {
        expect(parseObjectLockConfiguration(withDefaultRetention(document, rule))).toEqual({ defaultRetention: rule });
      }),
      { numRuns: 200 },
    );
  });

  it('that is cleared keeps all else, and that the bucket has object lock', () => {
    check(objectLockDocuments, (document) => {
      const after = withoutDefaultRetention(document);
      expect(readEditable(after)).toEqual(but(document, retention));
      expect(textAt(readEditable(after), ['ObjectLockEnabled'])).toBe('Enabled');
    });
  });
});
