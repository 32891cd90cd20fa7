import type { ReactNode } from 'react';
import { xml, xmlDocument } from '../text/xml.ts';
import { say, type Say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** A rule of the replication of a bucket as the editor has it. */
export interface ReplicationRule {
  readonly id: string;
  readonly enabled: boolean;
  readonly priority: number;
  /** The ARN of the remote target. */
  readonly target: string;
  readonly prefix: string;
  readonly deleteMarkers: boolean;
  readonly deletes: boolean;
  readonly existingObjects: boolean;
  /** Elements that the editor has no field for, which it keeps as they are. */
  readonly kept: readonly string[];
  /** The markup of a filter by tags, which the editor cannot show. */
  readonly otherFilter?: string | undefined;
}

export const emptyReplication: ReplicationRule = {
  id: '',
  enabled: true,
  priority: 1,
  target: '',
  prefix: '',
  deleteMarkers: true,
  deletes: false,
  existingObjects: true,
  kept: [],
};

/** Describes a rule in sentences; `place` names a target, and `put` puts its prefix into them. */
export function describeReplication(
  rule: ReplicationRule,
  place: (arn: string) => string,
  put: Say<ReactNode> = say,
): readonly ReactNode[] {
  const { prefix, target, deleteMarkers, deletes, existingObjects, otherFilter } = rule;
  const to = place(target);
  const sent =
    otherFilter !== undefined
      ? put(t.replication.newVersionsOfTheObjectsOfIts, { to })
      : prefix === ''
        ? put(t.replication.newVersionsOfAllObjectsAreSent, { to })
        : put(t.replication.newVersionsOfObjectsWhoseKeyBegins, { prefix, to });
  const also = [
    ...(deleteMarkers ? [t.replication.deleteMarkers] : []),
    ...(deletes ? [t.replication.removalsOfVersions] : []),
    ...(existingObjects ? [t.replication.onAResyncWhatWasThereBefore] : []),
  ];
  return [sent, ...(also.length === 0 ? [] : [say(t.replication.sentToo, { also: also.join('; ') })])];
}

/** Returns the reason why a rule cannot be saved; undefined if it can. */
export function replicationIssue(rule: ReplicationRule, others: readonly ReplicationRule[]): string | undefined {
  if (rule.target === '') return t.replication.chooseATargetAddOneFirstIf;
  if (!Number.isInteger(rule.priority) || rule.priority < 0) return t.replication.thePriorityIsAWholeNumberFrom;
  if (others.some(({ priority }) => priority === rule.priority)) return t.replication.anotherRuleHasThisPriority;
  if (rule.deleteMarkers && rule.otherFilter !== undefined) return t.replication.aRuleWithTagsCannotSendDelete;
  return undefined;
}

/** The first priority that no rule has. */
export function freePriority(rules: readonly ReplicationRule[]): number {
  return Math.max(0, ...rules.map(({ priority }) => priority)) + 1;
}

/** Writes the document of PutBucketReplication. */
export function replicationDocument(rules: readonly ReplicationRule[], role: string): string {
  return xmlDocument('ReplicationConfiguration', [
    ...rules.map((rule) =>
      xml('Rule', [
        ...(rule.id === '' ? [] : [xml('ID', rule.id)]),
        status(rule.enabled),
        xml('Priority', rule.priority),
        xml('DeleteMarkerReplication', [status(rule.deleteMarkers)]),
        xml('DeleteReplication', [status(rule.deletes)]),
        xml('Destination', [xml('Bucket', rule.target)]),
        rule.otherFilter === undefined ? xml('Filter', [xml('Prefix', rule.prefix)]) : { markup: rule.otherFilter },
        xml('ExistingObjectReplication', [status(rule.existingObjects)]),
        ...rule.kept.map((markup) => ({ markup })),
      ]),
    ),
    xml('Role', role),
  ]);
}

function status(enabled: boolean) {
  return xml('Status', enabled ? 'Enabled' : 'Disabled');
}

/** Splits the address of an S3 server into what a target has; undefined for a text that is none. */
export function endpointOf(address: string): { readonly endpoint: string; readonly secure: boolean } | undefined {
  const text = address.trim();
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`);
  if (url === null || url.host === '' || url.pathname !== '/' || url.search !== '' || url.username !== '') {
    return undefined;
  }
  return { endpoint: url.host, secure: url.protocol === 'https:' };
}
