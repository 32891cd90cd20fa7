import { durationMs } from '../../../protocol/text/duration.ts';
import { z } from 'zod';
import { MaintenanceError } from '../maintenance-error.ts';

/** The definition of a batch job is wrong. The message names the field. */
export function invalid(message: string): MaintenanceError {
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

export interface JobTarget {
  readonly bucket: string;
  /** Keys begin with one of them. */
  readonly prefixes: readonly string[];
  /** Attempts for each object, and the milliseconds between them. */
  readonly attempts: number;
  readonly delayMs: number;
}

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

export const text = z.string().max(1_024);
export const duration = z.string().transform((given, context) => {
  const duration = durationMs(given, ['ms', 's', 'm', 'h', 'd', 'w']);
  if (duration !== undefined) return duration;
  context.addIssue({ code: 'custom', message: 'expected a duration such as 70h or 7d10h31s' });
  return z.NEVER;
});
export const date = z
  .string()
  .refine(
    (given) => /^\d{4}-\d\d-\d\d/.test(given) && !Number.isNaN(Date.parse(given)),
    'expected a time such as 2026-01-02T15:04:05Z',
  )
  .transform((given) => Date.parse(given));
export const size = z
  .union([z.string(), z.number().transform(String)])
  .refine((given) => /^\d{1,15}(?:\.\d{1,6})? ?(?:[kmgt]?i?b)?$/i.test(given), 'expected a size such as 10MiB')
  .transform((given) => {
    const [, amount = '', unit = ''] = /^([\d.]+) ?([a-z]*)$/i.exec(given) ?? [];
    return Math.round(Number(amount) * (bytesOf[unit.toLowerCase()] ?? 1));
  });
export const pairs = z
  .array(z.strictObject({ key: text.min(1), value: text.default('') }))
  .min(1, 'an empty list selects everything: remove the field')
  .max(20)
  .nullish();
export const prefix = z
  .union([text, z.array(text).min(1, 'an empty list selects everything: remove the field').max(100)])
  .nullish();
export const retry = z
  .strictObject({ attempts: z.number().int().min(0).max(100).nullish(), delay: duration.nullish() })
  .nullish();

/** The fields by which a job selects versions. */
export const filterFields = {
  newerThan: duration.nullish(),
  olderThan: duration.nullish(),
  createdAfter: date.nullish(),
  createdBefore: date.nullish(),
  tags: pairs,
  metadata: pairs,
};

export type GivenFilter = Partial<z.output<z.ZodObject<typeof filterFields>>>;

export function batchFilter({
  newerThan,
  olderThan,
  createdAfter,
  createdBefore,
  tags,
  metadata,
}: GivenFilter): BatchFilter {
  return {
    tags: tags ?? [],
    metadata: metadata ?? [],
    ...present({ newerThanMs: newerThan, olderThanMs: olderThan, createdAfter, createdBefore }),
  };
}

export function checked<T>(type: string, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `${[type, ...path].map(String).join('.')}: ${message}`,
  );
  throw invalid(problems.slice(0, 10).join('; '));
}

export function targetOf(
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

/** Leaves out what is undefined, null or an empty text. */
export function present<T extends Readonly<Record<string, unknown>>>(
  values: T,
): { [K in keyof T]?: NonNullable<T[K]> } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return Object.fromEntries(given) as { [K in keyof T]?: NonNullable<T[K]> };
}
