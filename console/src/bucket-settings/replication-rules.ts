import type { ReactNode } from 'react';
import { newElement, withAll, writeEdited } from '../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';
import {
  conditionsOf,
  type Edited,
  ElementForm,
  filterPrefix,
  numberField,
  statusField,
  textField,
} from '../text/element-form.ts';
import { say, type Say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** A rule of the replication of a bucket as the editor has it. */
interface RuleFields {
  readonly id: string;
  readonly enabled: boolean;
  readonly priority: number;
  /** The ARN of the remote target. */
  readonly target: string;
  readonly prefix: string;
  readonly deleteMarkers: boolean;
  readonly deletes: boolean;
  readonly existingObjects: boolean;
}

export type ReplicationRule = Edited<RuleFields>;

const priority = numberField('Priority');

const form = new ElementForm<RuleFields>({
  id: textField('ID'),
  enabled: statusField('Status'),
  priority: { ...priority, read: (element) => priority.read(element) ?? 0 },
  target: textField('Destination', 'Bucket'),
  prefix: filterPrefix,
  deleteMarkers: statusField('DeleteMarkerReplication', 'Status'),
  deletes: statusField('DeleteReplication', 'Status'),
  existingObjects: statusField('ExistingObjectReplication', 'Status'),
});

/** Reads an element `Rule`. */
export function replicationRule(element: XmlNode): ReplicationRule {
  return form.read(element);
}

/** Returns the element `Rule` with what the user changed. */
function replicationElement(rule: ReplicationRule): XmlNode {
  return form.write(rule);
}

/** The parts of a rule that the form has no field for. */
export function unknownOfReplication({ element }: ReplicationRule): readonly string[] {
  return form.unknown(element);
}

function hasTags({ element }: ReplicationRule): boolean {
  return conditionsOf(element).some(({ name }) => name === 'Tag');
}

export const emptyReplication: ReplicationRule = {
  ...replicationRule(newElement('Rule', [newElement('Filter', [newElement('Prefix', '')])])),
  enabled: true,
  priority: 1,
  deleteMarkers: true,
  existingObjects: true,
};

/** Describes a rule in sentences; `place` names a target, and `put` puts its prefix into them. */
export function describeReplication(
  rule: ReplicationRule,
  place: (arn: string) => string,
  put: Say<ReactNode> = say,
): readonly ReactNode[] {
  const { prefix, target, deleteMarkers, deletes, existingObjects } = rule;
  const to = place(target);
  const sent = hasTags(rule)
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
  if (rule.deleteMarkers && hasTags(rule)) return t.replication.aRuleWithTagsCannotSendDelete;
  return undefined;
}

/** The first priority that no rule has. */
export function freePriority(rules: readonly ReplicationRule[]): number {
  return Math.max(0, ...rules.map(({ priority }) => priority)) + 1;
}

/** The document of PutBucketReplication: that which was read, with these rules. */
export function replicationDocument(rules: readonly ReplicationRule[], before: XmlNode = emptyDocument): string {
  return writeEdited(withAll(before, 'Rule', rules.map(replicationElement)));
}

const emptyDocument = newElement('ReplicationConfiguration', [newElement('Role', '')]);

/** Splits the address of an S3 server into what a target has; undefined for a text that is none. */
export function endpointOf(address: string): { readonly endpoint: string; readonly secure: boolean } | undefined {
  const text = address.trim();
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`);
  if (url === null || url.host === '' || url.pathname !== '/' || url.search !== '' || url.username !== '') {
    return undefined;
  }
  return { endpoint: url.host, secure: url.protocol === 'https:' };
}
