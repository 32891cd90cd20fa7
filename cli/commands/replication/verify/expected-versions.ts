import type { ReplicationRule } from '../../../s3/replication.ts';

/** The state of a version at the source, for one target. */
export interface SourceState {
  /** `PENDING`, `COMPLETED`, `FAILED` or `REPLICA`; undefined for a version that no rule has sent. */
  readonly status: string | undefined;
  /** The state at the target; undefined where the target is not known to have the version. */
  readonly atTarget: string | undefined;
  /** The reason of the last refusal. */
  readonly refused: string | undefined;
}

export const neverSent: SourceState = { status: undefined, atTarget: undefined, refused: undefined };

type Tags = Readonly<Record<string, string>>;

/** Returns the longest prefix that all keys of the rules have in common. */
export function commonPrefix(rules: readonly ReplicationRule[]): string {
  const [first = '', ...others] = rules.map(prefixOf);
  return others.reduce((common, prefix) => {
    let length = 0;
    while (length < common.length && common[length] === prefix[length]) length += 1;
    return common.slice(0, length);
  }, first);
}

/** Reports whether a rule names a key, whatever its tags. */
export function namesKey(rules: readonly ReplicationRule[], key: string): boolean {
  return rules.some((rule) => key.startsWith(prefixOf(rule)));
}

/** Reports whether a rule may name keys that begin with a prefix. */
export function namesBelow(rules: readonly ReplicationRule[], prefix: string): boolean {
  return rules.some((rule) => prefixOf(rule).startsWith(prefix) || prefix.startsWith(prefixOf(rule)));
}

/** Reports whether the tags of an object decide which rule it has. */
export function dependsOnTags(rules: readonly ReplicationRule[], key: string): boolean {
  return rules.some((rule) => key.startsWith(prefixOf(rule)) && tagsOf(rule).length > 0);
}

/** Returns the enabled rule with the highest priority that matches an object, of the rules of one target. */
export function decidingRule(rules: readonly ReplicationRule[], key: string, tags: Tags): ReplicationRule | undefined {
  let deciding: ReplicationRule | undefined;
  for (const rule of rules) {
    const isMatch =
      rule.Status === 'Enabled' &&
      key.startsWith(prefixOf(rule)) &&
      tagsOf(rule).every(({ Key = '', Value = '' }) => Object.hasOwn(tags, Key) && tags[Key] === Value);
    if (isMatch && (deciding === undefined || deciding.Priority < rule.Priority)) deciding = rule;
  }
  return deciding;
}

/** Reports whether the target of a rule must have a version. What a resync sends counts where the rule replicates what was there before. */
export function mustBeThere(rule: ReplicationRule, isMarker: boolean, { status }: SourceState): boolean {
  if (isMarker && rule.DeleteMarkerReplication.Status !== 'Enabled') return false;
  const isSentByRule = status !== undefined && status !== 'REPLICA';
  return isSentByRule || rule.ExistingObjectReplication.Status === 'Enabled';
}

/** Reports whether the attributes of a version must be the same at the target. */
export function mustAgree(rule: ReplicationRule, { status }: SourceState): boolean {
  // A rule without the element sends the changes of replicas, too.
  return status !== 'REPLICA' || rule.SourceSelectionCriteria.ReplicaModifications.Status !== 'Disabled';
}

/** Reports whether what was removed at the source must be gone at the target. */
export function mustBeGone(rule: ReplicationRule, isMarker: boolean): boolean {
  return (
    rule.DeleteReplication.Status === 'Enabled' && (!isMarker || rule.DeleteMarkerReplication.Status === 'Enabled')
  );
}

function prefixOf({ Filter }: ReplicationRule): string {
  return Filter.And.Prefix ?? Filter.Prefix ?? '';
}

function tagsOf({ Filter }: ReplicationRule): NonNullable<ReplicationRule['Filter']['And']['Tags']> {
  return Filter.And.Tags ?? (Filter.Tag.Key === undefined ? [] : [Filter.Tag]);
}
