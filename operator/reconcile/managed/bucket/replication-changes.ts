import type { BucketSpec } from '../../../api/bucket.ts';
import type { ReplicationRuleFields } from '../../../api/bucket-fields.ts';
import { ResourceError } from '../../../api/resource-error.ts';
import type { AddedTarget } from '../../conditions.ts';
import { type ManagedChange, sameDocument } from '../create-controller.ts';
import type { ManagedContext } from '../controller.ts';
import { endpointOf } from '../signed-request.ts';
import type { BucketClient } from './bucket-client.ts';
import { comparableReplication, replicationConfiguration, wantedReplication } from './replication-rules.ts';
import {
  findTarget,
  targetClient,
  targetDifferences,
  type WantedTarget,
  wantedTargets,
} from './replication-targets.ts';

interface ReplicatedBucket {
  readonly client: BucketClient;
  readonly bucket: string;
  /** True where the bucket is made by an earlier change. */
  readonly isNew: boolean;
}

/**
 * Returns the changes that make targets and rules those of the resource: targets are added first, since rules name their ARNs, and removed
 * last, since a target that a rule names cannot be removed. Targets that others added stay.
 */
export async function replicationChanges(
  { replication }: BucketSpec,
  replicated: ReplicatedBucket,
  context: ManagedContext,
  now: () => Date,
): Promise<readonly ManagedChange[]> {
  if (replication === undefined) return [];
  try {
    const wanted = wantedTargets(replication, context.secrets, context.fingerprint);
    return await changesOf(replication.rules, wanted, replicated, context, now);
  } catch (error) {
    if (!(error instanceof ResourceError)) throw error;
    // A Secret that is missing holds up the replication and nothing else of the bucket.
    return [{ difference: 'replication differs', make: () => Promise.reject(error) }];
  }
}

async function changesOf(
  wantedRules: readonly ReplicationRuleFields[],
  wanted: readonly WantedTarget[],
  { client, bucket, isNew }: ReplicatedBucket,
  context: ManagedContext,
  now: () => Date,
): Promise<readonly ManagedChange[]> {
  const targets = targetClient(endpointOf(context.access), bucket, now);
  const [found, configuration] = isNew
    ? [[], { rules: [] }]
    : await Promise.all([targets.list(), client.findReplication()]);
  const isThere = ({ arn }: AddedTarget) => found.some((target) => target.arn === arn);
  const before = context.status.replicationTargets ?? [];
  // A target that is gone already is no longer remembered.
  const isKept = (target: AddedTarget) => wanted.some(({ name }) => name === target.name) || isThere(target);
  const added = new Map(before.filter(isKept).map((target) => [target.name, target]));
  const arns = new Map<string, string>();
  const remember = () => context.remember({ bucketName: bucket, replicationTargets: [...added.values()] });
  const set = (target: WantedTarget, arn: string): Promise<void> => {
    arns.set(target.name, arn);
    added.set(target.name, { name: target.name, arn, credentials: target.credentials });
    return remember();
  };
  const changes: ManagedChange[] = [];

  for (const target of wanted) {
    const there = findTarget(target, found);
    if (there !== undefined) arns.set(target.name, there.arn);
    const parts = there && targetDifferences(target, there, added.get(target.name));
    if (there === undefined || parts === undefined) {
      const difference = `there is no replication target "${target.name}"`;
      changes.push({ difference, make: async () => set(target, await targets.add(target)) });
    } else if (parts.length > 0) {
      const names = parts.map((part) => partNames[part] ?? part).join(', ');
      const difference = `the replication target "${target.name}" differs: ${names}`;
      changes.push({ difference, make: async () => set(target, await targets.update(target, there.arn, parts)) });
    }
  }

  if (!sameDocument(wantedReplication(wantedRules, arns), comparableReplication(configuration))) {
    const names = [...new Set(wantedRules.map(({ target }) => target))].join(', ') || 'none';
    changes.push({
      difference: `replication rules differ: they should send to ${names}`,
      // The ARNs of new targets are known by now.
      make: () => client.setReplication(replicationConfiguration(wantedReplication(wantedRules, arns))),
    });
  }

  const isNamed = ({ name, arn }: AddedTarget) =>
    wanted.some((target) => target.name === name && findTarget(target, found)?.arn === arn);
  for (const target of before.filter((one) => isThere(one) && !isNamed(one))) {
    changes.push({
      difference: `the replication target "${target.name}" is no longer named`,
      make: async () => {
        await targets.remove(target.arn);
        if (added.get(target.name)?.arn === target.arn) added.delete(target.name);
        await remember();
      },
    });
  }
  return changes;
}

/** The words of an event for the parts of the admin call. */
const partNames: Readonly<Record<string, string>> = {
  creds: 'credentials',
  path: 'addressing',
  bandwidth: 'bandwidthLimit',
  proxy: 'disableProxy',
  sync: 'synchronous',
};
