import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePublicAccessBlock, writePublicAccessBlock } from '../../../protocol/s3/access/public-access-block.ts';
import { parseCors } from '../../../protocol/s3/bucket-cors.ts';
import { parseLogging } from '../../../protocol/s3/bucket-logging.ts';
import { parseNotification } from '../../../protocol/s3/bucket-notification.ts';
import { parseReplication } from '../../../protocol/s3/bucket-replication.ts';
import { parseVersioning } from '../../../protocol/s3/bucket-versioning.ts';
import { parseWebsite } from '../../../protocol/s3/bucket-website.ts';
import { parseLifecycle } from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { parseObjectLockConfiguration } from '../../../protocol/s3/object-lock.ts';
import { readEditable, textAt } from '../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';
import {
  loggingDocuments,
  objectLockDocuments,
  publicAccessBlocks,
  versioningDocuments,
} from '../../../test/support/s3-documents/bucket-settings.ts';
import { corsDocuments } from '../../../test/support/s3-documents/cors.ts';
import { lifecycleDocuments } from '../../../test/support/s3-documents/lifecycle.ts';
import { notificationDocuments } from '../../../test/support/s3-documents/notification.ts';
import { replicationDocuments, replicationTargets } from '../../../test/support/s3-documents/replication.ts';
import { websiteDocuments } from '../../../test/support/s3-documents/website.ts';
import { bucketLockOf, objectLockDocument } from '../api/object-lock-document.ts';
import { versioningDocument } from '../api/versioning.ts';
import { conditionsOf } from '../text/element-form.ts';
import { corsDocument, corsRule } from './cors-rules.ts';
import { lifecycleDocument, lifecycleRule, type Rule as LifecycleFormRule } from './lifecycle/lifecycle-rules.ts';
import { loggingDocument, loggingOf } from './logging-document.ts';
import { notificationDocument, notificationRule } from './notification-rules.ts';
import { publicBlockDocument } from './public-block.ts';
import { replicationDocument, replicationRule } from './replication-rules.ts';
import { websiteDocument, websiteOf } from './website-queries.ts';

const runs = { numRuns: 500 };

/**
 * The form of a document with rules, and an edit of each field with what it makes of the server's own view of the rule. The edit of a rule that
 * cannot have it is undefined.
 */
interface RulesForm<Rule, Parsed> {
  readonly documents: fc.Arbitrary<string>;
  readonly name: string;
  readonly read: (element: XmlNode) => Rule;
  readonly write: (rules: readonly Rule[], root: XmlNode) => string;
  readonly parse: (document: string) => readonly Parsed[];
  readonly edits: Readonly<
    Record<string, readonly [form: (rule: Rule) => Rule | undefined, server: (rule: Parsed) => Parsed]>
  >;
}

function form<Rule, Parsed>(of: RulesForm<Rule, Parsed>) {
  const rulesOf = (root: XmlNode) => root.children.filter(({ name }) => name === of.name).map(of.read);
  return {
    documents: of.documents,
    saved: (document: string) => {
      const root = readEditable(document);
      return of.write(rulesOf(root), root);
    },
    edits: Object.fromEntries(
      Object.entries(of.edits).map(([name, [change, expected]]) => [
        name,
        (document: string, at: number) => {
          const root = readEditable(document);
          const rules = rulesOf(root);
          const index = at % Math.max(1, rules.length);
          const changed = rules[index] && change(rules[index]);
          fc.pre(changed !== undefined);
          const written = of.write(rules.with(index, changed), root);
          const wanted = of.parse(document).map((rule, place) => (place === index ? expected(rule) : rule));
          return { is: of.parse(written), wanted };
        },
      ]),
    ),
  };
}

/** An action of a lifecycle rule has something that its field in the form does not edit, and that excludes it. */
function hasOther({ element }: LifecycleFormRule, action: string, of: readonly string[]): boolean {
  const names = ['Days', 'Date', 'ExpiredObjectDeleteMarker'].filter((name) => !of.includes(name));
  return names.some((name) => textAt(element, [action, name]) !== undefined);
}

/** The filter has tags or sizes, which some actions exclude. */
function isNarrow({ element }: LifecycleFormRule): boolean {
  return conditionsOf(element).some(({ name }) => name !== 'Prefix');
}

const forms = {
  lifecycle: form({
    documents: lifecycleDocuments,
    name: 'Rule',
    read: lifecycleRule,
    write: lifecycleDocument,
    parse: parseLifecycle,
    edits: {
      'the switch': [(rule) => ({ ...rule, enabled: !rule.enabled }), (rule) => ({ ...rule, enabled: !rule.enabled })],
      'the prefix': [
        (rule) => ({ ...rule, prefix: 'new/' }),
        (rule) => ({ ...rule, filter: { ...rule.filter, prefix: 'new/' } }),
      ],
      'the name': [(rule) => ({ ...rule, id: 'new & <only>' }), (rule) => ({ ...rule, id: 'new & <only>' })],
      'the removal of old versions': [
        (rule) => ({ ...rule, noncurrentDays: 2 ** 31 - 1 }),
        (rule) => ({ ...rule, noncurrent: { ...rule.noncurrent, days: 2 ** 31 - 1 } }),
      ],
      'the versions that stay': [
        // The deprecated form of a filter has none.
        (rule) => (textAt(rule.element, ['Prefix']) === undefined ? { ...rule, keepVersions: 7 } : undefined),
        (rule) => ({ ...rule, noncurrent: { days: 0, ...rule.noncurrent, keep: 7 } }),
      ],
      'the days until a removal': [
        (rule) => (hasOther(rule, 'Expiration', ['Days']) ? undefined : { ...rule, expireDays: 2 ** 31 - 1 }),
        (rule) => ({ ...rule, expiration: { ...rule.expiration, days: 2 ** 31 - 1 } }),
      ],
      'the removal of lone markers': [
        (rule) =>
          rule.expireDays !== undefined || hasOther(rule, 'Expiration', []) || isNarrow(rule)
            ? undefined
            : { ...rule, removeLoneMarkers: true },
        (rule) => ({ ...rule, expiration: { loneMarkers: true as const } }),
      ],
      'the removal of uploads': [
        (rule) => (isNarrow(rule) ? undefined : { ...rule, abortDays: 9 }),
        (rule) => ({ ...rule, abortUploadsDays: 9 }),
      ],
      'the move of objects': [
        (rule) => (hasOther(rule, 'Transition', ['Days']) ? undefined : { ...rule, moveDays: 0, moveTier: 'NEW' }),
        (rule) => ({ ...rule, transition: { days: 0, tier: 'NEW' } }),
      ],
      'the move of old versions': [
        (rule) => ({ ...rule, oldMoveDays: 0, oldMoveTier: 'NEW' }),
        (rule) => ({ ...rule, noncurrentTransition: { ...rule.noncurrentTransition, days: 0, tier: 'NEW' } }),
      ],
      'a removal that is taken out': [
        (rule) =>
          rule.expireDays === undefined || (rule.abortDays ?? rule.moveTier) === undefined
            ? undefined
            : { ...rule, expireDays: undefined },
        ({ expiration: _expiration, ...rule }) => rule,
      ],
    },
  }),
  replication: form({
    documents: replicationDocuments,
    name: 'Rule',
    read: replicationRule,
    write: replicationDocument,
    parse: (document) => parseReplication(document).rules,
    edits: {
      'the switch': [(rule) => ({ ...rule, enabled: !rule.enabled }), (rule) => ({ ...rule, enabled: !rule.enabled })],
      'the prefix': [
        (rule) => ({ ...rule, prefix: 'new/' }),
        (rule) => ({ ...rule, filter: { ...rule.filter, prefix: 'new/' } }),
      ],
      'the priority': [(rule) => ({ ...rule, priority: 77 }), (rule) => ({ ...rule, priority: 77 })],
      'the target': [
        (rule) => ({ ...rule, target: replicationTargets[1] ?? '' }),
        (rule) => ({ ...rule, destination: replicationTargets[1] ?? '', target: replicationTargets[1] ?? '' }),
      ],
      'the name': [(rule) => ({ ...rule, id: 'new & <only>' }), (rule) => ({ ...rule, id: 'new & <only>' })],
      'the delete markers': [
        (rule) => ({ ...rule, deleteMarkers: false }),
        (rule) => ({ ...rule, deleteMarkers: false }),
      ],
      'the removals': [
        (rule) => ({ ...rule, deletes: !rule.deletes }),
        (rule) => ({ ...rule, deletes: !rule.deletes }),
      ],
      'the existing objects': [
        (rule) => ({ ...rule, existingObjects: !rule.existingObjects }),
        (rule) => ({ ...rule, existingObjects: !rule.existingObjects }),
      ],
    },
  }),
  notification: form({
    documents: notificationDocuments,
    name: 'QueueConfiguration',
    read: notificationRule,
    write: notificationDocument,
    parse: (document) => parseNotification(document, { targets: 'any', region: '' }),
    edits: {
      'the target': [
        (rule) => ({ ...rule, arn: 'arn:minio:sqs::new:mqtt' }),
        (rule) => ({ ...rule, arn: 'arn:minio:sqs::new:mqtt', target: 'new:mqtt' }),
      ],
      'the name': [(rule) => ({ ...rule, id: 'new & <only>' }), (rule) => ({ ...rule, id: 'new & <only>' })],
      // No rule has them, so that the rules of a target do not overlap.
      'the events': [
        (rule) => ({ ...rule, events: ['s3:ObjectRestore:Post', 's3:ObjectRestore:Completed'] }),
        (rule) => ({ ...rule, events: ['s3:ObjectRestore:Post', 's3:ObjectRestore:Completed'] }),
      ],
      // Another target has no other rules with which the new keys overlap.
      'the beginning of the keys': [
        (rule) => ({ ...rule, arn: 'arn:minio:sqs::new:mqtt', prefix: 'new/' }),
        (rule) => ({ ...rule, arn: 'arn:minio:sqs::new:mqtt', target: 'new:mqtt', prefix: 'new/' }),
      ],
      'the end of the keys': [
        (rule) => ({ ...rule, arn: 'arn:minio:sqs::new:mqtt', suffix: ' .<new>' }),
        (rule) => ({ ...rule, arn: 'arn:minio:sqs::new:mqtt', target: 'new:mqtt', suffix: ' .<new>' }),
      ],
    },
  }),
  CORS: form({
    documents: corsDocuments,
    name: 'CORSRule',
    read: corsRule,
    write: corsDocument,
    parse: parseCors,
    edits: {
      'the origins': [(rule) => ({ ...rule, origins: ['https://n'] }), (rule) => ({ ...rule, origins: ['https://n'] })],
      'the age': [(rule) => ({ ...rule, maxAge: '5' }), (rule) => ({ ...rule, maxAgeSeconds: 5 })],
      'the age that is taken out': [(rule) => ({ ...rule, maxAge: '' }), ({ maxAgeSeconds: _age, ...rule }) => rule],
      'the methods': [
        (rule) => ({ ...rule, methods: ['PUT', 'HEAD'] }),
        (rule) => ({ ...rule, methods: ['PUT', 'HEAD'] }),
      ],
      'the headers': [(rule) => ({ ...rule, headers: ['x-new'] }), (rule) => ({ ...rule, headers: ['x-new'] })],
      'the exposed headers': [(rule) => ({ ...rule, exposed: [] }), (rule) => ({ ...rule, exposed: [] })],
    },
  }),
};

describe.each(Object.entries(forms))('the form of %s', (_name, { documents, saved, edits }) => {
  it('writes every document that it did not change as the server wrote it', () => {
    fc.assert(
      fc.property(documents, (document) => {
        expect(saved(document)).toBe(document);
      }),
      runs,
    );
  });

  it.each(Object.entries(edits))('keeps everything else at an edit of %s', (_field, edit) => {
    fc.assert(
      fc.property(documents, fc.nat({ max: 3 }), (document, at) => {
        const { is, wanted } = edit(document, at);
        expect(is).toEqual(wanted);
      }),
      runs,
    );
  });
});

describe('the switches of the public access block', () => {
  it('keep the other ones', () => {
    fc.assert(
      fc.property(publicAccessBlocks, fc.boolean(), (block, blockPublicPolicy) => {
        const root = readEditable(writePublicAccessBlock(block));
        const document = publicBlockDocument(root, { BlockPublicPolicy: blockPublicPolicy });
        const wanted = { ...block, blockPublicPolicy };
        if (document === undefined) expect(Object.values(wanted)).not.toContain(true);
        else expect(parsePublicAccessBlock(document)).toEqual(wanted);
      }),
      runs,
    );
  });
});

/** The forms of documents without rules: an unchanged save, and an edit with what the server reads of it. */
const settings = {
  website: {
    documents: websiteDocuments,
    saved: (document: string) => websiteDocument(websiteOf(readEditable(document))),
    edit: (document: string) => {
      const website = websiteOf(readEditable(document));
      const before = parseWebsite(document);
      return before.kind === 'site'
        ? [
            { is: websiteDocument({ ...website, error: 'e' }), wanted: { ...before, errorKey: 'e' } },
            { is: websiteDocument({ ...website, index: 'i<' }), wanted: { ...before, indexSuffix: 'i<' } },
          ]
        : [
            { is: websiteDocument({ ...website, host: 'h' }), wanted: { ...before, hostName: 'h' } },
            { is: websiteDocument({ ...website, protocol: 'https' }), wanted: { ...before, protocol: 'https' } },
          ];
    },
    parse: parseWebsite,
  },
  'access log': {
    documents: loggingDocuments,
    saved: (document: string) => loggingDocument(loggingOf(readEditable(document))),
    edit: (document: string) => {
      const logging = loggingOf(readEditable(document));
      const before = parseLogging(document);
      return [
        {
          is: loggingDocument(logging && { ...logging, prefix: '' }),
          wanted: before && { ...before, targetPrefix: '' },
        },
        {
          is: loggingDocument(logging && { ...logging, bucket: 'new' }),
          wanted: before && { ...before, targetBucket: 'new' },
        },
      ];
    },
    parse: parseLogging,
  },
  versioning: {
    documents: versioningDocuments.filter((document) => document.includes('Enabled')),
    saved: (document: string) => versioningDocument(readEditable(document), true),
    edit: (document: string) => {
      const { excludedPrefixes: _, ...before } = parseVersioning(document);
      return [{ is: versioningDocument(readEditable(document), false), wanted: { ...before, status: 'Suspended' } }];
    },
    parse: parseVersioning,
  },
  'default retention': {
    documents: objectLockDocuments,
    saved: (document: string) => objectLockDocument(bucketLockOf(readEditable(document))),
    edit: (document: string) => [
      {
        is: objectLockDocument({
          ...bucketLockOf(readEditable(document)),
          mode: 'GOVERNANCE',
          days: 5,
          years: undefined,
        }),
        wanted: { defaultRetention: { mode: 'GOVERNANCE', days: 5 } },
      },
    ],
    parse: parseObjectLockConfiguration,
  },
};

describe.each(Object.entries(settings))('the form of the %s', (_name, { documents, saved, edit, parse }) => {
  it('writes every document that it did not change as the server wrote it', () => {
    fc.assert(
      fc.property(documents, (document) => {
        expect(saved(document)).toBe(document);
      }),
      runs,
    );
  });

  it('keeps everything else at an edit', () => {
    fc.assert(
      fc.property(documents, (document) => {
        for (const { is, wanted } of edit(document)) expect(parse(is)).toEqual(wanted);
      }),
      runs,
    );
  });
});
