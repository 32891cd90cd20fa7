import { describe, expect, it } from 'vitest';
import { type FoundTarget, targetDifferences, type WantedTarget } from './replication-targets.ts';

const wanted: WantedTarget = {
  name: 'dr',
  endpoint: 's3.eu-central-1.amazonaws.com',
  secure: true,
  bucket: 'copies',
  region: '',
  path: 'auto',
  bandwidthLimit: 0,
  disableProxy: false,
  synchronous: false,
  accessKey: 'key',
  secretKey: 'secret',
  credentials: 'fingerprint',
};
const found: FoundTarget = {
  arn: 'arn',
  endpoint: wanted.endpoint,
  secure: true,
  targetbucket: 'copies',
  region: 'eu-central-1',
  path: 'auto',
  bandwidthlimit: 0,
  disableProxy: false,
  replicationSync: false,
  credentials: { accessKey: 'key' },
};
const added = { name: 'dr', arn: 'arn', credentials: 'fingerprint' };

describe('the differences of a target', () => {
  it('are none where the server has learned the region', () => {
    expect(targetDifferences(wanted, found, added)).toEqual([]);
  });

  it('are the waits of answers where the resource says otherwise', () => {
    expect(targetDifferences({ ...wanted, synchronous: true }, found, added)).toEqual(['sync']);
  });

  it('are the place where the resource names another region', () => {
    expect(targetDifferences({ ...wanted, region: 'eu-west-1' }, found, added)).toEqual(['creds']);
  });
});
