import { targetArn } from '../../../protocol/s3/bucket-replication.ts';
import type { StoredTarget } from '../../../server/replication/remote-targets.ts';

/** The remote target `other` of the bucket `bucket`. Nothing listens at its endpoint unless the test names one. */
export function remoteTarget(id: string, changes: Partial<StoredTarget['target']> = {}): StoredTarget {
  return {
    id,
    revision: 1,
    target: {
      arn: targetArn(id, 'other'),
      sourceBucket: 'bucket',
      endpoint: '127.0.0.1:1',
      secure: false,
      targetBucket: 'other',
      path: 'on',
      region: '',
      accessKey: 'access',
      secretKey: 'secret',
      bandwidthLimit: 0,
      healthCheckMs: 60_000,
      disableProxy: false,
      ...changes,
    },
  };
}
