import { randomBytes } from 'node:crypto';
import { covers, isEventName } from './event-names.ts';
import { S3Error } from './s3-error.ts';
import {
  checkChildren,
  child,
  childrenOf,
  malformed,
  readXml,
  requiredText,
  textOf,
  type XmlNode,
} from './xml-reader.ts';
import { element, xmlDocument } from './xml-writer.ts';

/** One rule: the events of objects whose key begins and ends so go to a target. */
export interface NotificationRule {
  readonly id: string;
  /** As it was put. */
  readonly arn: string;
  /** `ID:TYPE` of the target, the last two parts of the ARN. */
  readonly target: string;
  /** Names of events, or groups that end with `:*`. */
  readonly events: readonly string[];
  readonly prefix?: string;
  readonly suffix?: string;
}

/** The targets and the region of the server. */
interface NotificationTargets {
  /** Each `ID:TYPE`; `any` for a client, which reads what a server has accepted. */
  readonly targets: readonly string[] | 'any';
  readonly region: string;
}

/** Bytes of the document. */
export const maxNotificationDocument = 256 * 1_024;
/** The limit of S3. */
const maxRules = 100;
const maxId = 255;
const maxFilter = 1_024;

/**
 * Reads a NotificationConfiguration. No rules switch notifications off.
 *
 * @throws S3Error MalformedXML, InvalidArgument with the texts of AWS, UnsupportedNotification for destinations that are no queue
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketNotificationConfiguration.html
 */
export function parseNotification(body: string | Buffer, known: NotificationTargets): readonly NotificationRule[] {
  const root = readXml(body, { maxBytes: maxNotificationDocument, root: 'NotificationConfiguration' });
  for (const { name } of root.children) {
    if (name === 'QueueConfiguration') continue;
    const isKnown = /^(?:Topic|CloudFunction|EventBridge)Configuration$/.test(name);
    if (!isKnown) throw malformed(`"${name.slice(0, 64)}" is no element of "NotificationConfiguration"`);
    throw new S3Error(
      'UnsupportedNotification',
      `${name} is not supported: every target of this server is a queue, also for topics and functions.`,
    );
  }
  if (root.children.length > maxRules)
    throw invalid(`There are more than ${maxRules} configurations.`, 'QueueConfiguration');
  const rules = root.children.map((node) => parseRule(node, known));
  const ids = new Set<string>();
  for (const { id } of rules) {
    if (ids.has(id)) throw invalid('Same ID used for multiple configurations. IDs must be unique', 'Id', id);
    ids.add(id);
  }
  checkOverlaps(rules);
  return rules;
}

function parseRule(node: XmlNode, known: NotificationTargets): NotificationRule {
  checkChildren(node, ['Id', 'Queue', 'Filter'], ['Event']);
  const given = textOf(node, 'Id')?.trim() ?? '';
  if (given.length > maxId) throw invalid(`The ID is longer than ${maxId} characters.`, 'Id', given);
  const arn = requiredText(node, 'Queue').trim();
  const events = childrenOf(node, 'Event').map(({ text }) => text.trim());
  if (events.length === 0) throw malformed('"QueueConfiguration" lacks "Event"');
  for (const event of events) {
    if (!isEventName(event)) throw invalid('A specified event is not supported for notifications.', 'Event', event);
  }
  if (new Set(events).size < events.length) throw invalid(duplicateEvent, 'Event');
  return {
    id: given === '' ? randomBytes(16).toString('hex') : given,
    arn,
    target: targetOf(arn, known),
    events,
    ...filterOf(node),
  };
}

const duplicateEvent = 'Configurations overlap. Configurations on the same bucket cannot share a common event type.';

/** The form of MinIO, whose clients check it: `arn:minio:sqs:REGION:ID:TYPE`. */
const arnForm = /^arn:(?:minio|coffer):sqs:([^:]{0,64}):([^:]{1,64}:[^:]{1,64})$/;

function targetOf(arn: string, { targets, region }: NotificationTargets): string {
  const [, ofRegion = '', target = ''] = arnForm.exec(arn) ?? [];
  if (targets === 'any') return target;
  if (target !== '' && ofRegion !== '' && ofRegion !== region) {
    throw invalid(
      'A specified destination is in a different region than the bucket. You must use a destination that resides in the same region as the bucket: ' +
        `that is ${region}, not ${ofRegion}`,
      'Queue',
      arn,
    );
  }
  if (targets.includes(target)) return target;
  const reason = target === '' ? 'it is not arn:minio:sqs:REGION:ID:TYPE' : `the server has no target ${target}`;
  throw invalid(
    `A specified destination ARN does not exist or is not well-formed. Verify the destination ARN: ${reason}`,
    'Queue',
    arn,
  );
}

function filterOf(rule: XmlNode): Pick<NotificationRule, 'prefix' | 'suffix'> {
  const filter = child(rule, 'Filter');
  if (filter === undefined) return {};
  checkChildren(filter, ['S3Key']);
  const key = child(filter, 'S3Key');
  if (key === undefined) return {};
  checkChildren(key, [], ['FilterRule']);
  const found: { prefix?: string; suffix?: string } = {};
  for (const node of childrenOf(key, 'FilterRule')) {
    checkChildren(node, ['Name', 'Value']);
    const name = requiredText(node, 'Name').trim().toLowerCase();
    if (name !== 'prefix' && name !== 'suffix') {
      throw invalid('filter rule name must be either prefix or suffix', 'Name', name);
    }
    if (found[name] !== undefined)
      throw invalid(`Cannot specify more than one ${name} rule in a filter.`, 'Name', name);
    const value = textOf(node, 'Value') ?? '';
    checkFilterValue(value);
    found[name] = value;
  }
  return found;
}

/** Throws `InvalidArgument` for a prefix or a suffix above 1,024 bytes. */
export function checkFilterValue(value: string): void {
  if (Buffer.byteLength(value) <= maxFilter) return;
  throw invalid('Size of filter rule value cannot exceed 1024 bytes in UTF-8 representation', 'Value', value);
}

/** Two rules must not send the same event of the same object to one target twice. */
function checkOverlaps(rules: readonly NotificationRule[]): void {
  for (const [at, rule] of rules.entries()) {
    for (const other of rules.slice(at + 1)) {
      if (rule.target !== other.target || !overlap(rule, other)) continue;
      throw invalid(
        'An object key name filtering rule defined with overlapping prefixes, overlapping suffixes, or overlapping combinations of prefixes and suffixes for the same event types.',
        'Id',
        other.id,
      );
    }
  }
}

function overlap(one: NotificationRule, other: NotificationRule): boolean {
  const [prefix = '', otherPrefix = ''] = [one.prefix, other.prefix];
  const [suffix = '', otherSuffix = ''] = [one.suffix, other.suffix];
  return (
    (prefix.startsWith(otherPrefix) || otherPrefix.startsWith(prefix)) &&
    (suffix.endsWith(otherSuffix) || otherSuffix.endsWith(suffix)) &&
    one.events.some((event) => other.events.some((second) => covers(event, second) || covers(second, event)))
  );
}

function invalid(message: string, name: string, value = ''): S3Error {
  return new S3Error('InvalidArgument', message, {
    details: { ArgumentName: name, ArgumentValue: value.slice(0, 100) },
  });
}

/** Writes the document that GetBucketNotificationConfiguration answers. */
export function writeNotification(rules: readonly NotificationRule[]): string {
  return xmlDocument(
    'NotificationConfiguration',
    rules.map(({ id, arn, events, prefix, suffix }) => {
      const filters = [
        { name: 'prefix', value: prefix },
        { name: 'suffix', value: suffix },
      ].flatMap(({ name, value }) =>
        value === undefined ? [] : [element('FilterRule', [element('Name', name), element('Value', value)])],
      );
      return element('QueueConfiguration', [
        element('Id', id),
        element('Queue', arn),
        ...events.map((event) => element('Event', event)),
        filters.length === 0 ? undefined : element('Filter', [element('S3Key', filters)]),
      ]);
    }),
  );
}
