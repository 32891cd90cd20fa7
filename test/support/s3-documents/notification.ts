import * as fc from 'fast-check';
import {
  type NotificationRule,
  parseNotification,
  writeNotification,
} from '../../../protocol/s3/bucket-notification.ts';
import { defined, idText, keyText, maybe } from './texts.ts';

const events = [
  's3:ObjectCreated:*',
  's3:ObjectCreated:Put',
  's3:ObjectRemoved:*',
  's3:ObjectRemoved:Delete',
  's3:ObjectAccessed:Get',
  's3:ObjectTagging:*',
  's3:ObjectAcl:Put',
  's3:LifecycleTransition',
  's3:Replication:*',
  's3:Scanner:BigPrefix',
] as const;

const affix = maybe(fc.oneof(fc.constant(''), keyText));

const rule: fc.Arbitrary<NotificationRule> = defined<Omit<NotificationRule, 'target'>>({
  id: idText,
  arn: fc.constantFrom('arn:minio:sqs::a:webhook', 'arn:minio:sqs:us-east-1:b:kafka', 'arn:coffer:sqs::a:nats'),
  events: fc.uniqueArray(fc.constantFrom(...events), { minLength: 1, maxLength: 3 }),
  prefix: affix,
  suffix: affix,
}).map((written) => ({ ...written, target: written.arn.split(':').slice(4).join(':') }));

/** The rules of every notification that the server accepts. None switch notifications off. */
export const notificationRules: fc.Arbitrary<readonly NotificationRule[]> = fc
  .uniqueArray(rule, { maxLength: 4, selector: ({ id }) => id })
  .map((rules) => {
    const kept: NotificationRule[] = [];
    // Rules of one target must not overlap.
    for (const one of rules) if (isAccepted([...kept, one])) kept.push(one);
    return kept;
  });

function isAccepted(rules: readonly NotificationRule[]): boolean {
  try {
    parseNotification(writeNotification(rules), { targets: 'any', region: '' });
    return true;
  } catch {
    return false;
  }
}

/** The document of such rules, as GetBucketNotificationConfiguration answers it. */
export const notificationDocuments: fc.Arbitrary<string> = notificationRules.map(writeNotification);
