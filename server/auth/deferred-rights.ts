import { inventoryFolder, type InventoryConfiguration } from '../../protocol/s3/bucket-inventory.ts';
import type { BucketLogging } from '../../protocol/s3/bucket-logging.ts';
import type { Right } from './authorize.ts';
import type { AccessRequest } from './principal.ts';

/**
 * The rights that work asks for which the server does later. Who stores a setting or starts a job must have them over every object that the
 * work may touch, because the server then reads and writes in its own name.
 *
 * | work                | asker                 | touches                                        | rights                                                        |
 * | ------------------- | --------------------- | ---------------------------------------------- | ------------------------------------------------------------- |
 * | access logs         | sets the logging      | writes names that begin with the prefix        | `logRights`, once                                             |
 * | inventories         | sets the inventory    | lists the bucket, writes the folder of reports | `inventoryRights`, once                                       |
 * | batch jobs          | starts the job        | reads, writes, removes versions below prefixes | `job-rights.ts` in `maintenance/batch`: at start and at each  |
 * | lifecycle, tiers    | sets the rules        | removes versions, moves bodies to a tier       | `s3:PutLifecycleConfiguration`, as in AWS                     |
 * | replication         | sets target and rules | sends versions of the bucket                   | `admin:SetBucketTarget`, `s3:PutReplicationConfiguration`     |
 * | console's transfers | each request          | one object each                                | those of the single call                                      |
 *
 * Replication asks for no `s3:GetObject`: the policy that MinIO documents for administrators of replication has none. The right to set a target
 * is an administrator's. docs/decisions/0054-batch-jobs.md says why jobs ask at each version, and settings once.
 */
type DeferredRights = readonly Right[];

/** The names of logs have times and random digits after the prefix. */
export function logRights({ targetBucket, targetPrefix }: BucketLogging): DeferredRights {
  return [rightBelow('s3:PutObject', `${targetBucket}/${targetPrefix}`)];
}

/** `encryption` has the condition keys of the encryption that the reports get. */
export function inventoryRights(
  bucket: string,
  configuration: InventoryConfiguration,
  encryption: AccessRequest['context'],
): DeferredRights {
  const { destination, prefix = '', versions } = configuration;
  const folder = `${destination.bucket}/${inventoryFolder(bucket, configuration)}/`;
  return [
    { ...rightBelow('s3:PutObject', folder), conditions: encryption },
    {
      action: versions === 'All' ? 's3:ListBucketVersions' : 's3:ListBucket',
      resource: bucket,
      conditions: { 's3:prefix': [prefix] },
    },
  ];
}

/** Returns the right to do this with every object whose name begins so. `keys` are condition keys that differ between the objects. */
function rightBelow(action: string, resource: string, keys: readonly string[] = []): Right {
  return { action, resource, unknown: { below: true, every: true, keys } };
}
