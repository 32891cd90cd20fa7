import { describe, expect, it } from 'vitest';
import { parseReplication, writeReplication } from '../../../../protocol/s3/bucket-replication.ts';
import { bucketSpec } from '../../../api/bucket.ts';
import { comparableReplication, replicationConfiguration, wantedReplication } from './replication-rules.ts';

const arn = 'arn:minio:replication::7b2a0f6e-9a0c-4f0e-8a5f-0a1b2c3d4e5f:copy';
const { replication } = bucketSpec.parse({
  tenantRef: { name: 'demo' },
  versioning: 'Enabled',
  replication: {
    targets: [{ name: 'dr', endpoint: 'https://dr', bucket: 'copy', credentialsSecret: { name: 'dr' } }],
    rules: [
      { target: 'dr', prefix: 'a/', tags: { k: 'v' }, storageClass: 'STANDARD_IA' },
      { target: 'dr', deleteMarkers: true, deletes: true, existingObjects: true, replicaModifications: false },
    ],
  },
});
const rules = replication?.rules ?? [];

describe('the replication rules of a resource', () => {
  it('equal those that a server answers, in their order', () => {
    const wanted = wantedReplication(rules, new Map([['dr', arn]]));
    const configuration = replicationConfiguration(wanted);
    expect(configuration.rules.map(({ id, priority }) => [id, priority])).toEqual([
      ['operator-1', 2],
      ['operator-2', 1],
    ]);
    expect(comparableReplication(parseReplication(writeReplication(configuration)))).toEqual(wanted);
  });

  it('differ while their target has no ARN', () => {
    const [rule] = wantedReplication(rules, new Map());
    expect(rule?.target).toBe('dr');
  });
});
