import { z } from 'zod';

/**
 * The answers of key servers of both generations. A command imports this module after its call: loading the schema library takes longer
 * than a whole command without a call.
 */

/** Patterns of paths: a list in the first generation, an object with the patterns as keys in the second. */
const patterns = z.union([z.array(z.string()), z.record(z.string(), z.unknown()).transform(Object.keys)]);

/** The description of the caller or of another identity. */
export const identityAnswer = z
  .object({
    identity: z.string(),
    admin: z.boolean(),
    policy_name: z.string(),
    policy: z.union([z.string(), z.object({ allow: patterns, deny: patterns }).partial()]),
    allow: patterns,
    deny: patterns,
    created_at: z.string(),
    created_by: z.string(),
  })
  .partial();

export const listedIdentity = z.object({
  identity: z.string(),
  admin: z.boolean().optional(),
  policy: z.string().optional(),
});

export type ListedIdentity = z.infer<typeof listedIdentity>;

export const policyAnswer = z.object({
  allow: patterns.nullish(),
  deny: patterns.nullish(),
  created_at: z.string().optional(),
  created_by: z.string().optional(),
});

export const listedPolicy = z.object({ name: z.string() });

export const apisAnswer = z.array(
  z.object({ method: z.string(), path: z.string(), max_body: z.number(), timeout: z.number() }),
);

export const auditEvent = z.object({
  time: z.string(),
  request: z.object({ ip: z.string().optional(), path: z.string(), identity: z.string().optional() }),
  response: z.object({ code: z.number(), time: z.number() }),
});

export const errorEvent = z.object({ message: z.string() });

export type AuditEvent = z.infer<typeof auditEvent>;
export type ErrorEvent = z.infer<typeof errorEvent>;

const failure = z.object({ error: z.string() });
const wholeList = z
  .object({ names: z.array(z.string()).nullish(), identities: z.array(z.string()).nullish(), continue_at: z.string() })
  .partial({ names: true, identities: true });

/**
 * Reads a list of either generation: JSON lines, or one object with a list of names. Throws the error of the service when the list is
 * incomplete.
 */
export function readListing<T>(text: string, item: z.ZodType<T>, namesAs: (name: string) => T): T[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.flatMap((line) => {
    const json: unknown = JSON.parse(line);
    const whole = wholeList.safeParse(json);
    if (whole.success) return (whole.data.names ?? whole.data.identities ?? []).map(namesAs);
    const failed = failure.safeParse(json);
    if (failed.success && failed.data.error !== '') throw new Error(failed.data.error);
    return [item.parse(json)];
  });
}
