import type { ReplicationConfiguration, ReplicationRule } from '../../../../protocol/s3/bucket-replication.ts';
import type { ReplicationRuleFields } from '../../../api/bucket-fields.ts';

/** A rule without its id and its priority. Its place among the rules of its target says the priority. */
type ComparableReplicationRule = Omit<ReplicationRule, 'id' | 'priority' | 'destination'>;

/** Returns the rules of a resource in the form of those that are found. `arns` has the ARN of each target by its name. */
export function wantedReplication(
  rules: readonly ReplicationRuleFields[],
  arns: ReadonlyMap<string, string>,
): readonly ComparableReplicationRule[] {
  return rules.map(({ target, prefix, tags, ...flags }) => ({
    enabled: true,
    // A target that is not added yet has no ARN, and so its rules differ from all that are found.
    target: arns.get(target) ?? target,
    filter: {
      ...(prefix !== undefined && prefix !== '' && { prefix }),
      ...(tags !== undefined && Object.keys(tags).length > 0 && { tags }),
    },
    ...flags,
  }));
}

/** The highest priority comes first. */
export function comparableReplication({ rules }: ReplicationConfiguration): readonly ComparableReplicationRule[] {
  return rules
    .toSorted((a, b) => b.priority - a.priority)
    .map(({ id: _id, priority: _priority, destination: _destination, ...rule }) => rule);
}

/** The ids say which rules the operator made. */
export function replicationConfiguration(rules: readonly ComparableReplicationRule[]): ReplicationConfiguration {
  return {
    rules: rules.map((rule, at) => ({
      ...rule,
      id: `operator-${at + 1}`,
      priority: rules.length - at,
      destination: rule.target,
    })),
  };
}
