import type { ReactNode } from 'react';
import { each, xml, xmlDocument } from '../text/xml.ts';
import { listed, say, type Say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** A rule of the notifications of a bucket. */
export interface NotificationRule {
  readonly id: string;
  /** The ARN of the target. */
  readonly arn: string;
  readonly events: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
}

export const emptyNotification: NotificationRule = {
  id: '',
  arn: '',
  events: ['s3:ObjectCreated:*'],
  prefix: '',
  suffix: '',
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
  { events, prefix, suffix, arn }: NotificationRule,
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
export function notificationIssue({ arn, events }: NotificationRule): string | undefined {
  if (arn.trim() === '') return t.bucketSettings.chooseTheTargetThatIsTold;
  return events.length === 0 ? t.bucketSettings.chooseAtLeastOneEvent : undefined;
}

/** Writes the document of PutBucketNotificationConfiguration. No rules switch notifications off. */
export function notificationDocument(rules: readonly NotificationRule[]): string {
  return xmlDocument(
    'NotificationConfiguration',
    rules.map(({ id, arn, events, prefix, suffix }) => {
      const filters = [
        ...(prefix === '' ? [] : [filter('prefix', prefix)]),
        ...(suffix === '' ? [] : [filter('suffix', suffix)]),
      ];
      return xml('QueueConfiguration', [
        ...(id === '' ? [] : [xml('Id', id)]),
        xml('Queue', arn),
        ...each('Event', events),
        ...(filters.length === 0 ? [] : [xml('Filter', [xml('S3Key', filters)])]),
      ]);
    }),
  );
}

function filter(name: string, value: string) {
  return xml('FilterRule', [xml('Name', name), xml('Value', value)]);
}
