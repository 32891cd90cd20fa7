import { ProgramError } from '../../../platform/errors/program-error.ts';
import { parseBucket, type RemoteTarget } from '../../config/target.ts';
import type { S3Client } from '../../s3/client.ts';
import {
  getNotifications,
  kindOfArn,
  notificationSetting,
  withNotification,
  withoutNotification,
  withoutNotifications,
  type DestinationKind,
} from '../../s3/notifications.ts';
import { editSetting } from '../../s3/edit-setting.ts';
import { printable } from '../../../platform/text/printable.ts';
import type { Context } from '../context.ts';
import { bucketEvents, defaultEvents, typesOf } from './event-types.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface EventOptions {
  /** Names separated by commas. */
  readonly event?: string;
  readonly prefix?: string;
  readonly suffix?: string;
}

/** Adds a rule that sends events of a bucket to a destination of the server. */
export async function addEvent(
  context: Context,
  [argument = '', arn = '']: readonly string[],
  options: EventOptions & { readonly ignoreExisting?: boolean },
): Promise<void> {
  const { client, target } = await bucketOf(context, argument);
  const kind = kindOf(arn);
  const names = (options.event ?? defaultEvents).split(',');
  const { prefix = '', suffix = '' } = options;
  const rule = { kind, id: '', arn, events: typesOf(names, bucketEvents), prefix, suffix };
  try {
    await editSetting(client, target.bucket, notificationSetting, (document = noRules) =>
      withNotification(document, rule),
    );
  } catch (error) {
    const isOverlap = error instanceof ResponseError && /overlapping/i.test(error.message);
    if (options.ignoreExisting !== true || !isOverlap) throw error;
  }
  context.output.message(`Successfully added ${arn}`, { arn, event: names, prefix, suffix });
}

export async function listEvents(context: Context, [argument = '', arn]: readonly string[]): Promise<void> {
  const { client, target } = await bucketOf(context, argument);
  const rules = await getNotifications(client, target.bucket);
  for (const rule of rules.filter((one) => arn === undefined || one.arn === arn)) {
    const { id, events, prefix, suffix } = rule;
    const filters = [prefix && `prefix="${prefix}"`, suffix && `suffix="${suffix}"`].filter(Boolean).join(' ');
    const human = `${rule.arn}   ${events.join(',')}   Filter: ${printable(filters)}`.trimEnd();
    context.output.message(human, { id, event: events, prefix, suffix, arn: rule.arn });
  }
}

/** Removes the rules of a destination that have these events and filters; without a destination all rules. */
export async function removeEvent(
  context: Context,
  [argument = '', arn = '']: readonly string[],
  options: EventOptions & { readonly force?: boolean },
): Promise<void> {
  if (arn === '' && options.force !== true) {
    throw new ProgramError('Unsafe', 'This removes all rules of the bucket: add --force, or name a destination');
  }
  const { client, target } = await bucketOf(context, argument);
  if (arn !== '') kindOf(arn);
  const { event = defaultEvents, prefix = '', suffix = '' } = options;
  const rule = { arn, events: typesOf(event.split(','), bucketEvents), prefix, suffix };
  await editSetting(client, target.bucket, notificationSetting, (document = noRules) =>
    arn === '' ? withoutNotifications(document) : (withoutNotification(document, rule) ?? noRule(event, arn)),
  );
  context.output.message(`Successfully removed ${arn === '' ? 'all rules' : arn}`, { arn });
}

/** A bucket without rules has an empty document. */
const noRules = '<NotificationConfiguration/>';

function noRule(event: string, arn: string): never {
  throw new ProgramError(
    'NotFound',
    `No rule sends ${event} with these filters to ${arn}; \`event list\` shows the rules`,
  );
}

function kindOf(arn: string): DestinationKind {
  const kind = kindOfArn(arn);
  if (kind !== undefined) return kind;
  throw new ProgramError(
    'BadArgument',
    `Invalid ARN \`${arn}\`: it is arn:minio:sqs:REGION:ID:TYPE, or of AWS arn:aws:sqs:REGION:ACCOUNT:NAME, or with sns or lambda`,
  );
}

async function bucketOf(context: Context, argument: string): Promise<{ client: S3Client; target: RemoteTarget }> {
  const target = parseBucket(argument.replace(/\/+$/, ''), await context.aliases());
  return { client: await context.client(target.alias), target };
}
