import { ProgramError } from '../../../platform/errors/program-error.ts';
import { parseYaml } from '../../../platform/text/yaml.ts';
import { z } from 'zod';
import {
  type BatchFilter,
  batchFilter,
  checked,
  date,
  duration,
  filterFields,
  invalid,
  type JobTarget,
  pairs,
  prefix,
  present,
  retry,
  size,
  targetOf,
  text,
} from './definition-fields.ts';
import { type ReplicateDefinition, replicateOf, replicateSchema } from './replicate-definition.ts';

/** A rule of a job that expires objects. It applies to keys whose current version matches. */
interface ExpireRule {
  readonly type: 'object' | 'deleted';
  readonly filter: BatchFilter;
  /** The count of the newest versions that stay. */
  readonly retainVersions: number;
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

export type BatchDefinition = ExpireDefinition | RotateDefinition | ReplicateDefinition;

/** The maximum length of a definition, in characters. */
export const maxDefinition = 64 * 1024;

const expireSchema = z.strictObject({
  apiVersion: z.literal('v1'),
  bucket: text.min(1),
  prefix,
  rules: z
    .array(
      z.strictObject({
        type: z.enum(['object', 'deleted']),
        name: text.min(1, 'an empty name selects everything: remove the field').nullish(),
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
      filter: z.strictObject({ ...filterFields, kmskey: text.nullish() }).nullish(),
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
  if (type === undefined || more.length > 0) throw invalid('a definition has one job: replicate, expire or keyrotate');
  if (type === 'replicate') return replicateOf(checked(type, replicateSchema, document[type]), now);
  if (type === 'expire') return expireOf(checked(type, expireSchema, document[type]), now);
  if (type === 'keyrotate') return rotateOf(checked(type, rotateSchema, document[type]));
  throw invalid(`${type} is no type of job: there are replicate, expire and keyrotate`);
}

function documentOf(yaml: string): Record<string, unknown> {
  if (yaml.length > maxDefinition) throw invalid(`the definition is longer than ${maxDefinition} characters`);
  let document: unknown;
  try {
    // No alias, so that a short text cannot become a large value.
    document = parseYaml(yaml, { maxAliases: 0 });
  } catch (error) {
    if (error instanceof ProgramError) throw invalid(`the definition is no YAML: ${error.message}`);
    throw error;
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw invalid('the definition is no mapping: begin with the type of the job, as in `expire:`');
  }
  return document as Record<string, unknown>;
}

function refuseNotify(notify: unknown, path: string): void {
  if (notify === undefined || notify === null) return;
  throw invalid(`${path}: Coffer sends no message at the end of a job; remove it, and ask for the status`);
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
  const { kmskey, ...filter } = flags?.filter ?? {};
  if (!isKms && kmskey) throw invalid('keyrotate.flags.filter.kmskey: it selects objects with sse-kms alone');
  return {
    type: 'keyrotate',
    ...targetOf(given, flags?.retry),
    scheme: isKms ? 'SSE-KMS' : 'SSE-S3',
    keyName: encryption.key || undefined,
    fromKey: kmskey || undefined,
    filter: batchFilter(filter),
  };
}
