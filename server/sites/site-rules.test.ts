import { describe, expect, it } from 'vitest';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { RemoteTargets, StoredTarget } from '../replication/remote-targets.ts';
import { SiteRules } from './site-rules.ts';

const unused = () => Promise.reject(new Error('not asked'));

/** One target of a site, of a bucket whose rules cannot be read for this reason. */
function removal(reason: Error) {
  const removed: string[] = [];
  const stored = { target: { site: 'S', sourceBucket: 'photos', arn: 'arn' } } as unknown as StoredTarget;
  const targets = {
    all: () => Promise.resolve([stored]),
    remove: ({ target }: StoredTarget) => Promise.resolve(removed.push(target.arn)),
  } as unknown as RemoteTargets;
  const objects = {
    getBucketReplication: () => Promise.reject(reason),
    putBucketReplication: unused,
    getBucketVersioning: unused,
    putBucketVersioning: unused,
  };
  return { removed, rules: new SiteRules({ targets, objects, clock: () => 0 }) };
}

describe('the rules of sites', () => {
  it('keep their targets where they cannot be read', async () => {
    const { removed, rules } = removal(new Error('the store does not answer'));
    await expect(rules.removeAll()).rejects.toThrow('the store does not answer');
    expect(removed).toEqual([]);
  });

  it('are gone with their bucket', async () => {
    const { removed, rules } = removal(new S3Error('NoSuchBucket'));
    await rules.removeAll();
    expect(removed).toEqual(['arn']);
  });
});
