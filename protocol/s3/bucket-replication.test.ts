import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  parseReplication,
  type ReplicationConfiguration,
  targetArn,
  targetIdOf,
  writeReplication,
} from './bucket-replication.ts';
import { S3Error } from './s3-error.ts';

const id = '6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11';
const arn = targetArn(id, 'photos');
const ruleOf = (inner: string, destination = `<Destination><Bucket>${arn}</Bucket></Destination>`) =>
  `<ReplicationConfiguration><Rule><Status>Enabled</Status>${inner}${destination}</Rule></ReplicationConfiguration>`;

/** What `mc replicate add` sends. */
const byMc = `<ReplicationConfiguration><Rule><ID>r1</ID><Status>Enabled</Status><Priority>3</Priority><DeleteMarkerReplication><Status>Enabled</Status></DeleteMarkerReplication><DeleteReplication><Status>Enabled</Status></DeleteReplication><Destination><Bucket>${arn}</Bucket></Destination><Filter><Prefix></Prefix><And></And><Tag></Tag></Filter><SourceSelectionCriteria><ReplicaModifications><Status>Enabled</Status></ReplicaModifications></SourceSelectionCriteria><ExistingObjectReplication><Status></Status></ExistingObjectReplication></Rule><Role></Role></ReplicationConfiguration>`;

describe('parseReplication', () => {
  it('reads a rule as mc sends it', () => {
    expect(parseReplication(byMc)).toEqual({
      rules: [
        {
          id: 'r1',
          enabled: true,
          priority: 3,
          filter: {},
          destination: arn,
          target: arn,
          deleteMarkers: true,
          deletes: true,
          replicaModifications: true,
          existingObjects: false,
        },
      ],
    });
  });

  it('replicates modifications of replicas, and no deletions, by default', () => {
    const [rule] = parseReplication(ruleOf('')).rules;
    expect(rule).toMatchObject({ replicaModifications: true, deletes: false, deleteMarkers: false, priority: 0 });
  });

  it('takes the target from the role, in the older form of MinIO', () => {
    const document = `<ReplicationConfiguration><Role>${arn}</Role><Rule><Status>Disabled</Status><Destination><Bucket>arn:aws:s3:::photos</Bucket></Destination></Rule></ReplicationConfiguration>`;
    expect(parseReplication(document).rules[0]).toMatchObject({ target: arn, destination: 'arn:aws:s3:::photos' });
  });

  it('reads a prefix and tags together', () => {
    const filter =
      '<Filter><And><Prefix>a/</Prefix><Tag><Key>k</Key><Value>v</Value></Tag><Tag><Key>l</Key><Value></Value></Tag></And></Filter>';
    expect(parseReplication(ruleOf(filter)).rules[0]?.filter).toEqual({ prefix: 'a/', tags: { k: 'v', l: '' } });
  });

  it.each([
    ['no rule', '<ReplicationConfiguration></ReplicationConfiguration>', 'MalformedXML'],
    ['no status', ruleOf('').replace('<Status>Enabled</Status>', ''), 'MalformedXML'],
    ['an unknown element', ruleOf('<Speed>1</Speed>'), 'MalformedXML'],
    ['a prefix beside a filter', ruleOf('<Prefix>a</Prefix><Filter><Prefix>b</Prefix></Filter>'), 'MalformedXML'],
    [
      'a destination of AWS',
      ruleOf('', '<Destination><Bucket>arn:aws:s3:::b</Bucket></Destination>'),
      'InvalidArgument',
    ],
    ['a negative priority', ruleOf('<Priority>-1</Priority>'), 'InvalidArgument'],
    ['an ID of 256 characters', ruleOf(`<ID>${'i'.repeat(256)}</ID>`), 'InvalidArgument'],
    [
      'delete markers with tags',
      ruleOf(
        '<DeleteMarkerReplication><Status>Enabled</Status></DeleteMarkerReplication><Filter><Tag><Key>k</Key><Value>v</Value></Tag></Filter>',
      ),
      'InvalidRequest',
    ],
    [
      'replication time control',
      ruleOf('', `<Destination><Bucket>${arn}</Bucket><ReplicationTime></ReplicationTime></Destination>`),
      'NotImplemented',
    ],
    [
      'another storage class',
      ruleOf('', `<Destination><Bucket>${arn}</Bucket><StorageClass>COLD</StorageClass></Destination>`),
      'NotImplemented',
    ],
  ])('refuses %s', (_what, document, code) => {
    expect(() => parseReplication(document)).toThrow(expect.objectContaining({ code }));
  });

  it('refuses two rules of one priority', () => {
    const rule = `<Rule><Status>Enabled</Status><Priority>1</Priority><Destination><Bucket>${arn}</Bucket></Destination></Rule>`;
    const document = `<ReplicationConfiguration>${rule}${rule}</ReplicationConfiguration>`;
    expect(() => parseReplication(document)).toThrow('duplicate priority');
  });

  it('gives back what was written', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'ü', '&', '<', '/', ' '), minLength: 1, maxLength: 12 });
    const tags = fc.dictionary(fc.constantFrom('k', 'l', 'm&'), fc.constantFrom('v', 'w<', ''), { minKeys: 1 });
    const rule = fc.record({
      enabled: fc.boolean(),
      filter: fc.record({ prefix: text, tags }, { requiredKeys: [] }),
      destination: fc.constant(arn),
      target: fc.constant(arn),
      deletes: fc.boolean(),
      replicaModifications: fc.boolean(),
      existingObjects: fc.boolean(),
      deleteMarkers: fc.constant(false),
    });
    fc.assert(
      fc.property(fc.array(rule, { minLength: 1, maxLength: 4 }), (drafts) => {
        const rules = drafts.map((draft, at) => ({ ...draft, id: `r${at}`, priority: at }));
        const configuration: ReplicationConfiguration = { rules };
        expect(parseReplication(writeReplication(configuration))).toEqual(configuration);
      }),
    );
  });

  it('answers any document with a configuration or an S3 error', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(byMc.length), (text, at) => {
        try {
          expect(parseReplication(byMc.slice(0, at) + text + byMc.slice(at)).rules.length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(S3Error);
        }
      }),
    );
  });
});

describe('targetIdOf', () => {
  it.each([arn, `arn:minio:replication:us-east-1:${id}:photos`])('finds the id of %s', (text) => {
    expect(targetIdOf(text)).toBe(id);
  });

  it.each(['', 'arn:aws:s3:::photos', `arn:minio:sqs::${id}:photos`, `arn:minio:replication::${id}`])(
    'finds none in %s',
    (text) => {
      expect(targetIdOf(text)).toBeUndefined();
    },
  );
});
