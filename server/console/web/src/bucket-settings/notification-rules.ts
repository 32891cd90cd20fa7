import { each, xml, xmlDocument } from '../text/xml.ts';

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
export const eventWords: Readonly<Record<string, string>> = {
  's3:ObjectCreated:*': 'stored',
  's3:ObjectRemoved:*': 'removed',
  's3:ObjectAccessed:*': 'read',
  's3:ObjectTagging:*': 'tagged',
  's3:LifecycleExpiration:*': 'removed by the lifecycle',
  's3:Replication:*': 'replicated, or not replicated',
};

/** Describes a rule in one sentence. */
export function describeNotification({ events, prefix, suffix, arn }: NotificationRule): string {
  const happened = events.map((event) => eventWords[event] ?? event);
  const begins = prefix === '' ? '' : ` whose key begins with “${prefix}”`;
  const ends = suffix === '' ? '' : `${begins === '' ? ' whose key' : ' and'} ends with “${suffix}”`;
  return `When an object${begins}${ends} is ${listed(happened)}, ${targetName(arn)} is told.`;
}

/** Returns `ID:TYPE` of an ARN; another text as it is. */
export function targetName(arn: string): string {
  return /^arn:[^:]+:sqs:[^:]*:(.+)$/.exec(arn)?.[1] ?? arn;
}

function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
}

/** Returns the reason why a rule cannot be saved; undefined if it can. */
export function notificationProblem({ arn, events }: NotificationRule): string | undefined {
  if (arn.trim() === '') return 'Choose the target that is told.';
  return events.length === 0 ? 'Choose at least one event.' : undefined;
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
