import { parse, YAMLError } from 'yaml';
import { z } from 'zod';
import { MaintenanceError } from '../maintenance-error.ts';

/** The definition of a batch job is wrong. The message names the field. */
function invalid(message: string): MaintenanceError {
  return new MaintenanceError('invalid-job', message);
}

/** A condition on a tag or a header: the value may have the wildcards `*` and `?`. */
export interface NameAndPattern {
  readonly key: string;
  readonly value: string;
}

/** The conditions that select versions. All of them must hold. */
export interface BatchFilter {
  /** A pattern of the whole key. */
  readonly name?: string;
  readonly newerThanMs?: number;
  readonly olderThanMs?: number;
  /** Milliseconds since 1970. */
  readonly createdAfter?: number;
  readonly createdBefore?: number;
  readonly tags: readonly NameAndPattern[];
  readonly metadata: readonly NameAndPattern[];
  /** Bytes, both included. */
  readonly minSize?: number;
  readonly maxSize?: number;
}

/** A rule of a job that expires objects. It applies to keys whose current version matches. */
export interface ExpireRule {
  readonly type: 'object' | 'deleted';
  readonly filter: BatchFilter;
  /** The count of the newest versions that stay. */
  readonly retainVersions: number;
}

interface JobTarget {
  readonly bucket: string;
  /** Keys begin with one of them. */
  readonly prefixes: readonly string[];
  /** Attempts for each object, and the milliseconds between them. */
  readonly attempts: number;
  readonly delayMs: number;
}

export interface ExpireDefinition extends JobTarget {
  readonly type: 'expire';
  readonly rules: readonly ExpireRule[];
}

export interface RotateDefinition extends JobTarget {
  readonly type: 'keyrotate';
  readonly scheme: 'SSE-S3' | 'SSE-KMS';
  /** The new key. Undefined for the default key. */
  readonly keyName: string | undefined;
  readonly filter: BatchFilter;
  /** Objects of this key alone. */
  readonly fromKey: string | undefined;
}

export type BatchDefinition = ExpireDefinition | RotateDefinition;

/** The maximum length of a definition, in characters. */
export const maxDefinition = 64 * 1024;

const msOf: Readonly<Record<string, number>> = { ms: 1, s: 1e3, m: 6e4, h: 3.6e6, d: 8.64e7, w: 6.048e8 };
const bytesOf: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

const text = z.string().max(1_024);
const duration = z
  .string()
  .regex(/^(?:\d{1,9}(?:ms|s|m|h|d|w))+$/, 'expected a duration such as 70h or 7d10h31s')
  .transform((given) =>
    [...given.matchAll(/(\d+)(ms|s|m|h|d|w)/g)].reduce(
      (sum, [, count, unit = '']) => sum + Number(count) * (msOf[unit] ?? 0),
      0,
    ),
  );
const date = z
  .string()
  .refine(
    (given) => /^\d{4}-\d\d-\d\d/.test(given) && !Number.isNaN(Date.parse(given)),
    'expected a time such as 2026-01-02T15:04:05Z',
  )
  .transform((given) => Date.parse(given));
const size = z
  .union([z.string(), z.number().transform(String)])
  .refine((given) => /^\d{1,15}(?:\.\d{1,6})? ?(?:[kmgt]?i?b)?$/i.test(given), 'expected a size such as 10MiB')
  .transform((given) => {
    const [, amount = '', unit = ''] = /^([\d.]+) ?([a-z]*)$/i.exec(given) ?? [];
    return Math.round(Number(amount) * (bytesOf[unit.toLowerCase()] ?? 1));
  });
const pairs = z
  .array(z.strictObject({ key: text.min(1), value: text.default('') }))
  .max(20)
  .nullish();
const prefix = z.union([text, z.array(text).max(100)]).nullish();
const retry = z
  .strictObject({ attempts: z.number().int().min(0).max(100).nullish(), delay: duration.nullish() })
  .nullish();

const expireSchema = z.strictObject({
  apiVersion: z.literal('v1'),
  bucket: text.min(1),
  prefix,
  rules: z
    .array(
      z.strictObject({
        type: z.enum(['object', 'deleted']),
        name: text.nullish(),
        olderThan: duration.nullish(),
        createdBefore: date.nullish(),
        tags: pairs,
        metadata: pairs,
        size: z.strictObject({ lessThan: size.nullish(), greaterThan: size.nullish() }).nullish(),
        purge: z.strictObject({ retainVersions: z.number().int().min(0).max(1e9).nullish() }).nullish(),
      }),
    )
    .min(1, 'a job without rules does nothing')
    .max(50),
  notify: z.unknown().optional(),
  retry,
});

const rotateSchema = z.strictObject({
  apiVersion: z.literal('v1'),
  bucket: text.min(1),
  prefix,
  encryption: z.strictObject({ type: z.enum(['sse-s3', 'sse-kms']), key: text.nullish(), context: text.nullish() }),
  flags: z
    .strictObject({
      filter: z
        .strictObject({
          newerThan: duration.nullish(),
          olderThan: duration.nullish(),
          createdAfter: date.nullish(),
          createdBefore: date.nullish(),
          tags: pairs,
          metadata: pairs,
          kmskey: text.nullish(),
        })
        .nullish(),
      notify: z.unknown().optional(),
      retry,
    })
    .nullish(),
});

/**
 * Reads the definition of a job, in the YAML of MinIO. A field that is not honoured is refused.
 *
 * @throws MaintenanceError `invalid-job`
 * @see https://min.io/docs/minio/linux/administration/batch-framework-job-expire.html
 */
export function parseBatchDefinition(yaml: string, now: number): BatchDefinition {
  const document = documentOf(yaml);
  const [type, ...more] = Object.keys(document);
  if (type === undefined || more.length > 0) throw invalid('a definition has one job: expire or keyrotate');
  if (type === 'replicate') throw invalid('replicate: there are no jobs that replicate yet; use mirror of the client');
  if (type === 'expire') return expireOf(checked(type, expireSchema, document[type]), now);
  if (type === 'keyrotate') return rotateOf(checked(type, rotateSchema, document[type]));
  throw invalid(`${type} is no type of job: there are expire and keyrotate`);
}

function documentOf(yaml: string): Record<string, unknown> {
  if (yaml.length > maxDefinition) throw invalid(`the definition is longer than ${maxDefinition} characters`);
  let document: unknown;
  try {
    // No alias, so that a short text cannot become a large value.
    document = parse(yaml, { maxAliasCount: 0, merge: false, logLevel: 'error' });
  } catch (error) {
    if (error instanceof YAMLError || error instanceof ReferenceError)
      throw invalid(`the definition is no YAML: ${error.message}`);
    throw error;
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw invalid('the definition is no mapping: begin with the type of the job, as in `expire:`');
  }
  return document as Record<string, unknown>;
}

function checked<T>(type: string, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `${[type, ...path].map(String).join('.')}: ${message}`,
  );
  throw invalid(problems.slice(0, 10).join('; '));
}

function refuseNotify(notify: unknown, path: string): void {
  if (notify === undefined || notify === null) return;
  throw invalid(`${path}: Coffer sends no message at the end of a job; remove it, and ask for the status`);
}

function targetOf(
  { bucket, prefix: given }: { readonly bucket: string; readonly prefix?: z.output<typeof prefix> },
  again: z.output<typeof retry>,
): JobTarget {
  const prefixes = (typeof given === 'string' ? [given] : (given ?? [])).toSorted();
  // A prefix of another one has its keys too.
  const distinct = prefixes.filter((one, at) => !prefixes.slice(0, at).some((before) => one.startsWith(before)));
  // As in MinIO, 0 means the default.
  const attempts = again?.attempts || 3;
  return { bucket, prefixes: distinct.length === 0 ? [''] : distinct, attempts, delayMs: again?.delay ?? 250 };
}

function expireOf(given: z.output<typeof expireSchema>, now: number): ExpireDefinition {
  refuseNotify(given.notify, 'expire.notify');
  const rules = given.rules.map((rule, at) => expireRuleOf(rule, `expire.rules.${at}`, now));
  return { type: 'expire', ...targetOf(given, given.retry), rules };
}

type GivenRule = z.output<typeof expireSchema>['rules'][number];

function expireRuleOf(rule: GivenRule, path: string, now: number): ExpireRule {
  const { type, name, olderThan, createdBefore, size: sizes, purge } = rule;
  const [tags, metadata] = [rule.tags ?? [], rule.metadata ?? []];
  if (type === 'deleted' && (tags.length > 0 || metadata.length > 0 || sizes))
    throw invalid(`${path}: a rule of type deleted cannot have tags, metadata or size`);
  if ((createdBefore ?? 0) > now) throw invalid(`${path}.createdBefore: it is in the future`);
  const [minSize, maxSize] = [sizes?.greaterThan ?? 0, sizes?.lessThan ?? Infinity];
  if (minSize >= maxSize) throw invalid(`${path}.size: greaterThan must be below lessThan`);
  const facts = { name, olderThanMs: olderThan, createdBefore, minSize: sizes?.greaterThan, maxSize: sizes?.lessThan };
  return { type, retainVersions: purge?.retainVersions ?? 0, filter: { tags, metadata, ...present(facts) } };
}

function rotateOf(given: z.output<typeof rotateSchema>): RotateDefinition {
  const { encryption, flags } = given;
  refuseNotify(flags?.notify, 'keyrotate.flags.notify');
  if (encryption.context) throw invalid('keyrotate.encryption.context: an object keeps its context; remove the field');
  const isKms = encryption.type === 'sse-kms';
  if (isKms && !encryption.key) throw invalid('keyrotate.encryption.key: sse-kms needs the name of the new key');
  if (!isKms && encryption.key) throw invalid('keyrotate.encryption.key: sse-s3 has the default key; remove the field');
  const { newerThan, olderThan, createdAfter, createdBefore, tags, metadata, kmskey } = flags?.filter ?? {};
  if (!isKms && kmskey) throw invalid('keyrotate.flags.filter.kmskey: it selects objects with sse-kms alone');
  return {
    type: 'keyrotate',
    ...targetOf(given, flags?.retry),
    scheme: isKms ? 'SSE-KMS' : 'SSE-S3',
    keyName: encryption.key || undefined,
    fromKey: kmskey || undefined,
    filter: {
      tags: tags ?? [],
      metadata: metadata ?? [],
      ...present({ newerThanMs: newerThan, olderThanMs: olderThan, createdAfter, createdBefore }),
    },
  };
}

/** Leaves out what is undefined, null or an empty text. */
function present<T extends Readonly<Record<string, unknown>>>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return Object.fromEntries(given) as { [K in keyof T]?: NonNullable<T[K]> };
}
