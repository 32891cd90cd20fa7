import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseReplication } from '../../protocol/s3/bucket-replication.ts';
import { elementAt, readEditable, textAt, withText } from '../../protocol/s3/xml-edit.ts';
import { withForeignElements } from '../../test/support/s3-documents/foreign-elements.ts';
import { replicationDocuments } from '../../test/support/s3-documents/replication.ts';
import { editReplicationRule, newReplicationRule } from '../commands/replication/rule-options.ts';
import {
  readReplicationDocument,
  withEditedReplication,
  withoutReplication,
  withReplication,
  writeReplicationDocument,
  type ReplicationConfig,
  type ReplicationRule,
} from './replication.ts';

/** All that the server accepts, also with elements that no version of this program knows. */
const documents = fc.oneof(replicationDocuments, withForeignElements(replicationDocuments));
const rulesOf = (document: string) => readEditable(document).children.filter(({ name }) => name === 'Rule');
const idsOf = (document: string) => rulesOf(document).map((rule) => textAt(rule, ['ID']) ?? '');
const edited = (document: string, options: Parameters<typeof editReplicationRule>[1], path = '') => {
  const [id = ''] = idsOf(document);
  return withEditedReplication(document, id, (rule) => editReplicationRule(rule, options, path)) ?? '';
};

/** A rule as AWS has it, with elements that the server of Coffer does not take. */
const ofAws =
  '<Rule><ID>aws</ID><Priority>1</Priority><Status>Enabled</Status><Filter><And><Prefix>a/</Prefix><Tag><Key>k</Key><Value>v</Value></Tag></And></Filter>' +
  '<Destination><Account>123</Account><Bucket>arn:aws:s3:::b</Bucket><Metrics><EventThreshold><Minutes>15</Minutes></EventThreshold><Status>Enabled</Status></Metrics></Destination>' +
  '<SourceSelectionCriteria><SseKmsEncryptedObjects><Status>Enabled</Status></SseKmsEncryptedObjects></SourceSelectionCriteria>' +
  '<DeleteMarkerReplication><Status>Disabled</Status></DeleteMarkerReplication></Rule>';
const documentOf = (inside: string) => `<ReplicationConfiguration>${inside}</ReplicationConfiguration>`;
const role = '<Role>arn:aws:iam::1:role/r</Role>';

type ServerRule = ReturnType<typeof parseReplication>['rules'][number];

const filterOf = (text: string) => readReplicationDocument(text).Rules[0]?.Filter.And;

describe('a change of a document', () => {
  it.each<readonly [string, Parameters<typeof editReplicationRule>[1], string, (rule: ServerRule) => ServerRule]>([
    [
      'the tags',
      { tags: 'a=b&c=d' },
      '',
      (rule) => ({ ...rule, filter: { ...rule.filter, tags: { a: 'b', c: 'd' } } }),
    ],
    ['the prefix', {}, 'new/', (rule) => ({ ...rule, filter: { ...rule.filter, prefix: 'new/' } })],
    ['the priority', { priority: '77' }, '', (rule) => ({ ...rule, priority: 77 })],
  ])('of %s is that alone for the server', (_, options, path, change) => {
    fc.assert(
      fc.property(replicationDocuments, (document) => {
        const {
          rules: [first, ...others],
          ...rest
        } = parseReplication(document);
        // The server refuses delete markers with tags.
        fc.pre(first !== undefined && !(first.deleteMarkers && options.tags !== undefined));
        expect(parseReplication(edited(document, options, path))).toEqual({
          ...rest,
          rules: [change(first), ...others],
        });
      }),
      { numRuns: 500 },
    );
  });

  it('that changes nothing is the same document', () => {
    fc.assert(
      fc.property(documents, (document) => {
        expect(edited(document, {})).toBe(document);
      }),
    );
  });

  it('leaves everything else as it came: the status of a rule', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const [first, ...others] = rulesOf(document);
        const status = first && textAt(first, ['Status']) === 'Enabled' ? 'Disabled' : 'Enabled';
        const after = rulesOf(edited(document, { state: status === 'Enabled' ? 'enable' : 'disable' }));
        expect(after).toEqual([first && withText(first, ['Status'], status), ...others]);
      }),
    );
  });

  it('leaves everything else as it came: the storage class of the copies', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const [first, ...others] = rulesOf(document);
        const after = rulesOf(edited(document, { storageClass: 'COLD' }));
        expect(after).toEqual([first && withText(first, ['Destination', 'StorageClass'], 'COLD'), ...others]);
      }),
    );
  });

  it('keeps the prefix where no path is given, and the tags where none are', () => {
    const document = documentOf(ofAws);
    const tags = [{ Key: 'k', Value: 'v' }];
    expect(filterOf(edited(document, { state: 'disable' }))).toEqual({ Prefix: 'a/', Tags: tags });
    expect(filterOf(edited(document, {}, 'b/'))).toEqual({ Prefix: 'b/', Tags: tags });
    expect(filterOf(edited(document, { tags: 'x=y' }))).toEqual({ Prefix: 'a/', Tags: [{ Key: 'x', Value: 'y' }] });
  });

  it('keeps what other servers have in a rule, also when its switches change', () => {
    const [rule] = rulesOf(edited(documentOf(role + ofAws), { replicate: 'delete-marker', priority: '7' }));
    expect(rule && textAt(rule, ['Destination', 'Account'])).toBe('123');
    expect(rule && textAt(rule, ['Destination', 'Metrics', 'EventThreshold', 'Minutes'])).toBe('15');
    const criteria = rule && elementAt(rule, ['SourceSelectionCriteria']);
    expect(criteria?.children.map(({ name }) => name)).toEqual(['SseKmsEncryptedObjects', 'ReplicaModifications']);
  });

  it('adds a rule, and removes it again', () => {
    const rule = { ...newReplicationRule({ priority: '999' }, 'new/'), ID: 'new of this test' };
    fc.assert(
      fc.property(documents, (document) => {
        const added = withReplication(document, rule);
        expect(idsOf(added)).toEqual([...idsOf(document), rule.ID]);
        if (textAt(readEditable(document), ['Role'])?.startsWith('arn:minio:') !== true) {
          expect(withoutReplication(added, rule.ID)).toBe(document);
        }
      }),
    );
  });

  it('gives each rule its target where the role named that of all', () => {
    const target = 'arn:minio:replication::6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11:b';
    const added = withReplication(documentOf(`<Role>${target}</Role>${ofAws}`), newReplicationRule({}, ''));
    expect(readReplicationDocument(added)).toMatchObject({
      Role: '',
      Rules: [{ Destination: { Bucket: target } }, {}],
    });
    const kept = withReplication(documentOf(role + ofAws), newReplicationRule({}, ''));
    expect(readReplicationDocument(kept).Role).toBe('arn:aws:iam::1:role/r');
  });
});

describe('an export', () => {
  it('is the same rules for the server when it is imported again', () => {
    fc.assert(
      fc.property(replicationDocuments, (document) => {
        const exported = JSON.parse(JSON.stringify(readReplicationDocument(document))) as ReplicationConfig;
        expect(parseReplication(writeReplicationDocument(exported))).toEqual(parseReplication(document));
      }),
      { numRuns: 500 },
    );
  });

  it('has all that a rule of another server has, for an import', () => {
    const exported = JSON.parse(JSON.stringify(readReplicationDocument(documentOf(role + ofAws)))) as {
      Rules: ReplicationRule[];
      Role: string;
    };
    const again = readReplicationDocument(writeReplicationDocument(exported));
    expect(again).toEqual(exported);
    expect(exported.Rules[0]).toMatchObject({
      Destination: { Account: '123', Metrics: { Status: 'Enabled' } },
      SourceSelectionCriteria: { SseKmsEncryptedObjects: { Status: 'Enabled' } },
    });
  });
});
