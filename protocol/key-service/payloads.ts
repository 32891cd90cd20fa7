import { z } from 'zod';
import { keyServiceLimits } from './routes.ts';

/**
 * The bodies of requests and responses. Byte fields are base64 of the standard alphabet with padding. The schemas of requests check the
 * fields that the call needs and ignore the others. Fields of responses that only one generation sends are optional.
 */
/** Base64 may have line breaks, as the releases of the protocol read it. */
const bytes = z
  .string()
  .transform((text) => text.replaceAll(/[\r\n]/g, ''))
  .pipe(z.base64())
  .transform((text) => Buffer.from(text, 'base64'));
/** `null` is none, too. */
const context = bytes.nullish().transform((value) => value ?? undefined);

export const generateRequest = z.object({ context });
export const encryptRequest = z.object({ plaintext: bytes, context });
export const decryptRequest = z.object({ ciphertext: bytes, context });
/** The error for too many entries has its own code, so the schema accepts one entry more than the limit. */
export const bulkDecryptRequest = z.array(decryptRequest).max(keyServiceLimits.maxCiphertexts + 1);

export const hmacRequest = z.object({ message: bytes });

/** The first generation sends `bytes` and `algorithm`, the second `key` and `cipher`. */
export const importRequest = z.union([
  z.object({ bytes, algorithm: z.string().optional() }).transform((body) => ({ generation: 1 as const, ...body })),
  z
    .object({ key: bytes, cipher: z.string() })
    .transform(({ key, cipher }) => ({ generation: 2 as const, bytes: key, algorithm: cipher })),
]);

export const rotateAnswer = z.object({ version: z.string(), versions: z.number() });
export const hmacAnswer = z.object({ hmac: bytes });

export const generateAnswer = z.object({ plaintext: bytes, ciphertext: bytes, version: z.string().optional() });
export const encryptAnswer = z.object({ ciphertext: bytes, version: z.string().optional() });
export const decryptAnswer = z.object({ plaintext: bytes });
export const errorAnswer = z.object({ message: z.string().optional(), error: z.string().optional() });

export const describeKeyAnswer = z.object({
  name: z.string(),
  id: z.string().optional(),
  algorithm: z.string().optional(),
  created_at: z.string().optional(),
  created_by: z.string().optional(),
  /** The IDs of all versions, oldest first, if the key has more than one. */
  versions: z.array(z.string()).optional(),
});

/** The calls of a service, as `/v1/api` lists them. Times are seconds. */
export const apisAnswer = z.array(
  z.object({ method: z.string(), path: z.string(), max_body: z.number(), timeout: z.number() }),
);

export const versionAnswer = z.object({ version: z.string(), commit: z.string().optional() });

export const statusAnswer = z.object({
  version: z.string(),
  os: z.string().optional(),
  arch: z.string().optional(),
  /** Nanoseconds in the first generation, seconds in the second. */
  uptime: z.number().optional(),
  keystore_latency: z.number().optional(),
  keystore_unavailable: z.boolean().optional(),
  keystore_unreachable: z.boolean().optional(),
});

export const describeSelfAnswer = z.object({
  identity: z.string(),
  admin: z.boolean().optional(),
  policy_name: z.string().optional(),
  policy: z.unknown().optional(),
  /** The second generation sends it next to `policy`, which is a name there. */
  allow: z.unknown().optional(),
  deny: z.unknown().optional(),
});

export type DescribeKeyAnswer = z.infer<typeof describeKeyAnswer>;
export type ApisAnswer = z.infer<typeof apisAnswer>;
export type VersionAnswer = z.infer<typeof versionAnswer>;
export type StatusAnswer = z.infer<typeof statusAnswer>;
export type DescribeSelfAnswer = z.infer<typeof describeSelfAnswer>;

/** One line of a list, or the whole list. The generations differ; this service sends lines that both can read. */
const listLine = z.object({
  name: z.string().optional(),
  names: z.array(z.string()).nullish(),
  continue_at: z.string().optional(),
  error: z.string().optional(),
});

export interface KeyList {
  readonly names: readonly string[];
  /** The name at which the next page of the list begins, in the second generation. */
  readonly continueAt?: string;
}

/**
 * Reads a list of either generation: JSON lines with `name`, or one object with `names`.
 *
 * Throws an error with the text of the service if the list broke off.
 */
export function parseKeyList(text: string): KeyList {
  const names = new Set<string>();
  let continueAt: string | undefined;
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const parsed = listLine.parse(JSON.parse(line));
    if (parsed.error !== undefined && parsed.error !== '') throw new Error(parsed.error);
    if (parsed.name === undefined && parsed.names === undefined) throw new Error('a line of the list has no name');
    if (parsed.name !== undefined) names.add(parsed.name);
    for (const name of parsed.names ?? []) names.add(name);
    if (parsed.continue_at !== undefined && parsed.continue_at !== '') continueAt = parsed.continue_at;
  }
  return continueAt === undefined ? { names: [...names] } : { names: [...names], continueAt };
}

/**
 * Writes a list that both generations read: the second decodes only the first JSON value, the first reads a name from each line.
 */
export function writeKeyList(names: readonly string[]): string {
  return names
    .map((name, index) => `${JSON.stringify(index === 0 ? { name, names, continue_at: '' } : { name })}\n`)
    .join('');
}
