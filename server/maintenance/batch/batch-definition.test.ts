import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MaintenanceError } from '../maintenance-error.ts';
import { parseBatchDefinition } from './batch-definition.ts';

const now = Date.parse('2026-06-01T00:00:00Z');
const expire = (more: string) => `expire:\n  apiVersion: v1\n  bucket: logs\n${more}`;
const rotate = (more: string) => `keyrotate:\n  apiVersion: v1\n  bucket: logs\n${more}`;

describe('the definition of a batch job', () => {
  it('that expires has its rules', () => {
    const yaml = expire(`  prefix: [b/, a/, a/b/]
  rules:
    - type: object
      name: "*.log"
      olderThan: 7d10h31s
      createdBefore: "2026-01-02T15:04:05.00Z"
      tags:
        - key: name
          value: pick*
      metadata:
        - {key: content-type, value: image/*}
      size:
        lessThan: 10MiB
        greaterThan: 1MB
      purge:
        retainVersions: 5
    - type: deleted
      purge:
          # retainVersions: 0
  retry:
    attempts: 10
    delay: 500ms
`);
    expect(parseBatchDefinition(yaml, now)).toEqual({
      type: 'expire',
      bucket: 'logs',
      prefixes: ['a/', 'b/'],
      attempts: 10,
      delayMs: 500,
      rules: [
        {
          type: 'object',
          retainVersions: 5,
          filter: {
            name: '*.log',
            olderThanMs: (7 * 24 + 10) * 3_600_000 + 31_000,
            createdBefore: Date.parse('2026-01-02T15:04:05Z'),
            tags: [{ key: 'name', value: 'pick*' }],
            metadata: [{ key: 'content-type', value: 'image/*' }],
            minSize: 1e6,
            maxSize: 10 * 2 ** 20,
          },
        },
        { type: 'deleted', retainVersions: 0, filter: { tags: [], metadata: [] } },
      ],
    });
  });

  it('that rotates keys has the new key', () => {
    const yaml = rotate(`  prefix: a
  encryption: {type: sse-kms, key: new}
  flags:
    filter: {kmskey: old, newerThan: 1h}
`);
    expect(parseBatchDefinition(yaml, now)).toMatchObject({
      type: 'keyrotate',
      prefixes: ['a'],
      scheme: 'SSE-KMS',
      keyName: 'new',
      fromKey: 'old',
      attempts: 3,
      filter: { newerThanMs: 3_600_000 },
    });
  });

  it.each([
    ['nothing', '', /mapping/],
    ['no YAML', 'expire: [', /no YAML/],
    ['aliases', 'expire: &a {b: *a}', /no YAML|alias/i],
    ['another type', 'catalog: {}', /catalog is no type/],
    ['two jobs', 'expire: {}\nkeyrotate: {}', /one job/],
    ['a job that replicates', 'replicate:\n  apiVersion: v1', /replicate/],
    ['another version', 'expire:\n  apiVersion: v2', /expire\.apiVersion/],
    ['no bucket', 'expire:\n  apiVersion: v1\n  rules: [{type: object}]', /expire\.bucket/],
    ['no rule', expire('  rules: []'), /expire\.rules: a job without rules does nothing/],
    ['another type of rule', expire('  rules: [{type: versions}]'), /expire\.rules\.0\.type/],
    ['an unknown field', expire('  rules: [{type: object, youngerThan: 1h}]'), /expire\.rules\.0: .*youngerThan/],
    ['a wrong duration', expire('  rules: [{type: object, olderThan: 1 day}]'), /expire\.rules\.0\.olderThan/],
    ['a wrong time', expire('  rules: [{type: object, createdBefore: date}]'), /expire\.rules\.0\.createdBefore/],
    ['a time to come', expire('  rules: [{type: object, createdBefore: 2030-01-01}]'), /in the future/],
    ['a wrong size', expire('  rules: [{type: object, size: {lessThan: many}}]'), /expire\.rules\.0\.size\.lessThan/],
    [
      'no size between',
      expire('  rules: [{type: object, size: {lessThan: 1, greaterThan: 2}}]'),
      /greaterThan must be below/,
    ],
    ['tags of markers', expire('  rules: [{type: deleted, tags: [{key: a, value: b}]}]'), /cannot have tags/],
    ['an empty list of tags', expire('  rules: [{type: object, tags: []}]'), /tags: an empty list selects everything/],
    ['an empty list of metadata', expire('  rules: [{type: object, metadata: []}]'), /metadata: an empty list selects/],
    ['an empty name', expire('  rules: [{type: object, name: ""}]'), /name: an empty name selects everything/],
    ['no prefixes', expire('  prefix: []\n  rules: [{type: object}]'), /prefix/],
    ['a tag without a name', expire('  rules: [{type: object, tags: [{key: "", value: b}]}]'), /tags\.0\.key/],
    ['negative versions', expire('  rules: [{type: object, purge: {retainVersions: -1}}]'), /retainVersions/],
    ['a message', expire('  rules: [{type: object}]\n  notify: {endpoint: "https://a"}'), /expire\.notify/],
    ['no new key', rotate('  encryption: {type: sse-kms}'), /needs the name/],
    ['a key of SSE-S3', rotate('  encryption: {type: sse-s3, key: a}'), /default key/],
    ['a context', rotate('  encryption: {type: sse-kms, key: a, context: e30=}'), /context/],
  ])('is refused with %s', (_what, yaml, message) => {
    expect(() => parseBatchDefinition(yaml, now)).toThrow(message);
    expect(() => parseBatchDefinition(yaml, now)).toThrow(MaintenanceError);
  });

  it('is refused in words, whatever comes', () => {
    const yaml = fc.oneof(
      fc.string(),
      fc.json().map((json) => `expire: ${json}`),
      fc.json().map((json) => `keyrotate: ${json}`),
      fc.json().map((json) => `expire: {apiVersion: v1, bucket: b, rules: [${json}]}`),
    );
    fc.assert(
      fc.property(yaml, (text) => {
        try {
          expect(parseBatchDefinition(text, now).bucket).not.toBe('');
        } catch (error) {
          expect(error).toBeInstanceOf(MaintenanceError);
        }
      }),
    );
  });
});
