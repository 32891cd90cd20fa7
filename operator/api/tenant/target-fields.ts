import { z } from 'zod';
import {
  notifyPrefix,
  notifyTypes,
  requiredOfTarget,
  togetherOfTarget,
} from '../../../protocol/settings/notify-rows.ts';
import type { Setting } from '../../../protocol/settings/setting.ts';
import { settings } from '../../../protocol/settings/table.ts';
import { type CaBundleFrom, caBundleFrom, duration, isOneBundle, secretRef } from '../fields.ts';
import type { Rule } from '../rule.ts';

// The fields of a target come from the table of settings, so that a new setting of a target is a field too.

/** A setting of a type of targets, and where its value comes from. */
interface TargetField {
  /** The name of the field, or of the key in the Secret: `authToken`, `tls.crt`. `caBundleFrom` is a field of every target. */
  readonly name: string;
  /**
   * `value` is a field of the type. `secret` is a key of the Secret of the target; so is a `file`, whose setting is the path of a file.
   * `queue` says whether the target has a folder on the volume of the server.
   */
  readonly kind: 'value' | 'secret' | 'file' | 'ca-bundle' | 'queue';
  /** The name of the setting without its suffix. */
  readonly setting: string;
}

/** A type of targets: the name of its field, and the fields in it. */
export interface TargetType {
  readonly type: string;
  /** The beginning of the names of its settings. */
  readonly prefix: string;
  readonly fields: readonly TargetField[];
  /** All settings of the type, without their suffix. */
  readonly settings: readonly string[];
}

/** The fields of one type in a spec, as the schema has checked them. */
type TargetValues = Readonly<Record<string, string | number | boolean>>;

/** A target in a spec: one of the types is set. */
export interface TargetSpec {
  readonly id: string;
  readonly queueLimit?: number | undefined;
  readonly credentialsSecret?: { readonly name: string } | undefined;
  readonly caBundleFrom?: CaBundleFrom | undefined;
  readonly [type: string]: unknown;
}

const rows: readonly Setting[] = settings;

/** Settings that are not fields: they are set for each target, or have one value alone. */
const noFields: ReadonlySet<string> = new Set(['ENABLE', 'QUEUE_LIMIT']);
const bundles: ReadonlySet<string> = new Set(['CA_FILE', 'CERT_AUTHORITY']);

function camelCase(part: string): string {
  return part.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function fieldOf({ name: setting, type, secret }: Setting, prefix: string): readonly TargetField[] {
  const part = setting.slice(prefix.length);
  if (noFields.has(part) || (type.kind === 'choice' && type.of.length === 1)) return [];
  if (part === 'QUEUE_DIR') return [{ name: 'durable', kind: 'queue', setting }];
  if (bundles.has(part)) return [{ name: 'caBundleFrom', kind: 'ca-bundle', setting }];
  const [, certificate] = /^CLIENT_(?:TLS_)?(CERT|KEY)$/.exec(part) ?? [];
  if (certificate !== undefined)
    return [{ name: certificate === 'CERT' ? 'tls.crt' : 'tls.key', kind: 'file', setting }];
  if (secret) return [{ name: camelCase(part), kind: 'secret', setting }];
  return [{ name: camelCase(part), kind: type.kind === 'path' ? 'file' : 'value', setting }];
}

function typeOf(type: string, prefix: string): TargetType {
  const own = rows.filter(({ name }) => name.startsWith(prefix));
  return { type, prefix, fields: own.flatMap((row) => fieldOf(row, prefix)), settings: own.map(({ name }) => name) };
}

export const notificationTypes: readonly TargetType[] = notifyTypes.map((type) => typeOf(type, notifyPrefix(type)));
export const auditTypes: readonly TargetType[] = [typeOf('webhook', 'SVC_AUDIT_WEBHOOK_')];

/** Returns the part of a target that is set. The rules require exactly one. */
export function targetPart(
  target: TargetSpec,
  types: readonly TargetType[],
): { readonly type: TargetType; readonly values: TargetValues } | undefined {
  const type = types.find(({ type: name }) => typeof target[name] === 'object');
  return type && { type, values: target[type.type] as TargetValues };
}

function schemaOf({ kind, setting }: TargetField): z.ZodType {
  const row = rows.find(({ name }) => name === setting);
  if (row === undefined) throw new Error(`${setting} is no setting`);
  if (kind === 'queue')
    return z
      .boolean()
      .describe(
        'Whether entries wait on the volume of the server, where restarts and kills lose none. In memory without it.',
      );
  return valueSchema(row).describe(row.default === undefined ? row.help : `${row.help} Default: ${row.default}.`);
}

function valueSchema({ type }: Setting): z.ZodType {
  const text = z.string().min(1).max(2048);
  switch (type.kind) {
    case 'on-off':
      return z.boolean();
    case 'integer':
      return z.int().min(type.min).max(type.max);
    case 'choice':
      return z.enum(type.of);
    case 'duration':
      return duration;
    case 'url':
      return text.regex(/^https?:\/\/[^\s]+$/);
    case 'text':
      return type.pattern === undefined ? text : text.regex(type.pattern);
    case 'list':
    case 'path':
    case 'size':
      return text;
  }
}

function typeSchema({ type, fields }: TargetType, required: readonly string[]): z.ZodType {
  const shape = fields
    .filter(({ kind }) => kind === 'value' || kind === 'queue')
    .map((field) => {
      const schema = schemaOf(field);
      return [
        field.name,
        required.some((part) => camelCase(part) === field.name) ? schema : schema.optional(),
      ] as const;
    });
  const keys = keysOf({ fields });
  const secret = keys.length === 0 ? '' : ` Keys of its Secret: ${keys.join(', ')}.`;
  return z
    .strictObject(Object.fromEntries(shape))
    .optional()
    .describe(`${typeNames[type] ?? type}${secret}`);
}

/** The settings whose values are keys of the Secret of a target. */
export function credentialFields({ fields }: Pick<TargetType, 'fields'>): readonly TargetField[] {
  return fields.filter(({ kind }) => kind === 'secret' || kind === 'file');
}

/** The keys of the Secret that a type knows. */
export function keysOf(type: Pick<TargetType, 'fields'>): readonly string[] {
  return credentialFields(type).map(({ name }) => name);
}

/** The keys that the Secret of a target must have. */
export function requiredKeys({ type, fields }: TargetType): readonly string[] {
  const required = (requiredOfTarget[type] ?? []).map(camelCase);
  return keysOf({ fields }).filter((name) => required.includes(name));
}

/** Pairs of names of which a target has both or neither. */
export function togetherIn({ type, fields }: TargetType): readonly (readonly [string, string])[] {
  const pairs = (togetherOfTarget[type] ?? []).map((pair) => pair.map(camelCase));
  const known = pairs.flatMap(([one = '', other = '']) =>
    [one, other].every((name) => fields.some((field) => field.name === name)) ? [[one, other] as const] : [],
  );
  return fields.some(({ name }) => name === 'tls.crt') ? [...known, ['tls.crt', 'tls.key']] : known;
}

/**
 * The ends of names that would make a setting with a suffix look like another one: SASL of the target MECHANISM is
 * SVC_NOTIFY_KAFKA_SASL_MECHANISM.
 */
function ambiguousEnds(types: readonly TargetType[]): readonly string[] {
  const ends = types.flatMap(({ settings: names }) =>
    names.flatMap((one) =>
      names.filter((other) => other.startsWith(`${one}_`)).map((other) => other.slice(one.length + 1)),
    ),
  );
  return [...new Set(ends)].toSorted();
}

const notificationId = '^[A-Za-z0-9][A-Za-z0-9_]*$';

const id = (help: string) => z.string().min(1).max(63).regex(new RegExp(notificationId)).describe(help);

const typeNames: Readonly<Record<string, string>> = {
  webhook: 'Web service that gets each of them by a POST.',
  nats: 'NATS, with or without JetStream.',
  redis: 'Redis.',
  mqtt: 'Broker of MQTT 5.',
  postgresql: 'Table in PostgreSQL.',
  mysql: 'Table in MySQL or MariaDB.',
  amqp: 'Broker of AMQP 0.9.1, such as RabbitMQ.',
  kafka: 'Topic in Kafka.',
  elasticsearch: 'Index in Elasticsearch or OpenSearch.',
};

function listOf(
  types: readonly TargetType[],
  required: Readonly<Record<string, readonly string[]>>,
  more: Readonly<Record<string, z.ZodType>>,
) {
  const target = z.strictObject({
    ...more,
    credentialsSecret: secretRef.optional().describe('Secret of the target. Its type says which keys it may have.'),
    caBundleFrom: caBundleFrom.optional().describe('CA certificates (PEM) trusted for the target.'),
    ...Object.fromEntries(types.map((type) => [type.type, typeSchema(type, required[type.type] ?? [])])),
  });
  return z
    .array(target as unknown as z.ZodType<TargetSpec>)
    .max(32)
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['id'] });
}

export const notificationTargets = listOf(notificationTypes, requiredOfTarget, {
  id: id('Name of the target. Rules of a Bucket name it as ID:TYPE.'),
  queueLimit: z
    .int()
    .min(1)
    .max(10_000_000)
    .optional()
    .describe('Events that wait for the target at most. Default: 100000.'),
}).describe('Targets of the events of buckets. Each is of exactly one type.');

export const auditTargets = listOf(auditTypes, { webhook: ['ENDPOINT'] }, { id: id('Name of the target.') }).describe(
  'Where entries of the audit log go.',
);

interface Fields {
  readonly notificationTargets?: readonly TargetSpec[] | undefined;
  readonly auditTargets?: readonly TargetSpec[] | undefined;
  readonly storage: { readonly records?: unknown; readonly blobs?: unknown };
}

const lists = [
  { field: 'notificationTargets', what: 'a notification target', types: notificationTypes },
  { field: 'auditTargets', what: 'an audit target', types: auditTypes },
] as const;

const celAll = (field: string, condition: string) => `!has(self.${field}) || self.${field}.all(t, ${condition})`;

const valuesOf = (target: TargetSpec, type: string) => target[type] as TargetValues | undefined;

function rulesOf({ field, what, types }: (typeof lists)[number]): readonly Rule<Fields>[] {
  const names = types.map(({ type }) => type);
  const ends = [...ambiguousEnds(types), 'FILE'];
  const ambiguous = `^(${ends.join('|')})(_.*)?$|_FILE$`;
  const every = (holds: (target: TargetSpec) => boolean) => (spec: Fields) => (spec[field] ?? []).every(holds);
  return [
    {
      field: `spec.${field}`,
      message: `${what} needs exactly one of ${names.join(', ')}`,
      cel: celAll(field, `${names.map((name) => `(has(t.${name}) ? 1 : 0)`).join(' + ')} == 1`),
      holds: every((target) => names.filter((name) => target[name] !== undefined).length === 1),
    },
    {
      field: `spec.${field}`,
      message: `the id of ${what} may not end a name of a setting: ${ends.join(', ')}`,
      cel: celAll(field, `!t.id.matches('${ambiguous}')`),
      holds: every(({ id: name }) => !new RegExp(ambiguous).test(name)),
    },
    {
      field: `spec.${field}`,
      message: `caBundleFrom of ${what} needs exactly one of configMapKeyRef, secretKeyRef`,
      cel: celAll(
        field,
        '!has(t.caBundleFrom) || has(t.caBundleFrom.configMapKeyRef) != has(t.caBundleFrom.secretKeyRef)',
      ),
      holds: every(({ caBundleFrom: from }) => isOneBundle(from)),
    },
  ];
}

/** The types of which a setting that must be there is a secret. */
const withSecret = notificationTypes.filter((type) => requiredKeys(type).length > 0);

export const targetRules: readonly Rule<Fields>[] = [
  ...lists.flatMap(rulesOf),
  {
    field: 'spec.notificationTargets',
    message: `targets of these types need a credentialsSecret with a key: ${withSecret.map((type) => `${type.type} (${requiredKeys(type).join(', ')})`).join(', ')}`,
    cel: celAll(
      'notificationTargets',
      `has(t.credentialsSecret) || !(${withSecret.map(({ type }) => `has(t.${type})`).join(' || ')})`,
    ),
    holds: ({ notificationTargets: targets = [] }) =>
      targets.every(
        (target) =>
          target.credentialsSecret !== undefined || withSecret.every(({ type }) => target[type] === undefined),
      ),
  },
  {
    field: 'spec.auditTargets',
    message: 'durable needs the volume of the server: with storage.records and storage.blobs there is none',
    cel: `!has(self.storage.records) || !has(self.storage.blobs) || ${celAll('auditTargets', '!has(t.webhook) || !has(t.webhook.durable) || !t.webhook.durable')}`,
    holds: ({ auditTargets: targets = [], storage: { records, blobs } }) =>
      records === undefined ||
      blobs === undefined ||
      targets.every((target) => valuesOf(target, 'webhook')?.['durable'] !== true),
  },
];
