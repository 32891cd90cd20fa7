import type { ReactNode } from 'react';
import { elementAt, newElement, textAt, withAll, without, writeEdited } from '../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';
import { type Edited, type ElementField, ElementForm, listField, textField } from '../text/element-form.ts';
import { listed, say, type Say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** A rule of the notifications of a bucket. */
interface RuleFields {
  readonly id: string;
  /** The ARN of the target. */
  readonly arn: string;
  readonly events: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
}

export type NotificationRule = Edited<RuleFields>;

const form = new ElementForm<RuleFields>({
  id: textField('Id'),
  arn: textField('Queue'),
  events: listField('Event'),
  prefix: affixField('prefix'),
  suffix: affixField('suffix'),
});

function rulesOf(element: XmlNode): readonly XmlNode[] {
  return elementAt(element, ['Filter', 'S3Key'])?.children ?? [];
}

/** An element `FilterRule` with this name, which does not depend on case. */
function affixField(kind: 'prefix' | 'suffix'): ElementField<string> {
  const isOf = (rule: XmlNode) => textAt(rule, ['Name'])?.trim().toLowerCase() === kind;
  return {
    read: (element) => {
      const found = rulesOf(element).find(isOf);
      return (found && textAt(found, ['Value'])) ?? '';
    },
    write: (element, value) => {
      const others = rulesOf(element).filter((rule) => !isOf(rule));
      const own = newElement('FilterRule', [newElement('Name', kind), newElement('Value', value)]);
      const rules = value === '' ? others : [...others, own];
      if (rules.length === 0) return without(element, ['Filter']);
      return withAll(element, 'Filter', [newElement('Filter', [newElement('S3Key', rules)])]);
    },
    paths: ['Filter/S3Key/FilterRule'],
  };
}

/** Reads an element `QueueConfiguration`. */
export function notificationRule(element: XmlNode): NotificationRule {
  return form.read(element);
}

/** The parts of a rule that the form has no field for. */
export function unknownOfNotification({ element }: NotificationRule): readonly string[] {
  return form.unknown(element);
}

export const emptyNotification: NotificationRule = {
  ...notificationRule(newElement('QueueConfiguration', [])),
  events: ['s3:ObjectCreated:*'],
};

/** The groups of events that the form has as choices, with what happens to the object. */
export const eventWords = (): Readonly<Record<string, string>> => ({
  's3:ObjectCreated:*': t.bucketSettings.stored,
  's3:ObjectRemoved:*': t.bucketSettings.removed,
  's3:ObjectAccessed:*': t.bucketSettings.readWord,
  's3:ObjectTagging:*': t.bucketSettings.tagged,
  's3:LifecycleExpiration:*': t.bucketSettings.removedByTheLifecycle,
  's3:Replication:*': t.bucketSettings.replicatedOrNotReplicated,
});

/** Describes a rule in one sentence; `put` puts its prefix and its suffix into it. */
export function describeNotification(
  { events, prefix, suffix, arn }: RuleFields,
  put: Say<ReactNode> = say,
): ReactNode {
  const words = eventWords();
  const happened = events.map((event) => words[event] ?? event);
  const what = listed(happened, 'or');
  const target = targetName(arn);
  if (prefix === '' && suffix === '') return put(t.bucketSettings.whenAnObjectIsIsTold, { what, target });
  if (suffix === '') return put(t.bucketSettings.whenAnObjectWhoseKeyBeginsWith, { prefix, what, target });
  if (prefix === '') return put(t.bucketSettings.whenAnObjectWhoseKeyEndsWith, { suffix, what, target });
  return put(t.bucketSettings.whenAnObjectWhoseKeyBeginsWithPrefixSuffixWhatTarget, { prefix, suffix, what, target });
}

/** Returns `ID:TYPE` of an ARN; another text as it is. */
export function targetName(arn: string): string {
  return /^arn:[^:]+:sqs:[^:]*:(.+)$/.exec(arn)?.[1] ?? arn;
}

/** Returns the reason why a rule cannot be saved; undefined if it can. */
export function notificationIssue({ arn, events }: RuleFields): string | undefined {
  if (arn.trim() === '') return t.bucketSettings.chooseTheTargetThatIsTold;
  return events.length === 0 ? t.bucketSettings.chooseAtLeastOneEvent : undefined;
}

/** The document of PutBucketNotificationConfiguration: that which was read, with these rules. No rules switch notifications off. */
export function notificationDocument(rules: readonly NotificationRule[], before: XmlNode = emptyDocument): string {
  return writeEdited(
    withAll(
      before,
      'QueueConfiguration',
      rules.map((rule) => form.write(rule)),
    ),
  );
}

const emptyDocument = newElement('NotificationConfiguration', []);
