import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import type { RestartInput } from '../../workload.ts';

/** Annotations of an object may have 256 KiB in all; a person reads what is short. */
const readableBytes = 16 * 1024;
const compressed = 'gzip:';
/** What nobody wrote by accident: a small text can decompress to gigabytes. */
const largestBytes = 4 * 1024 * 1024;

/** Fields are looked at loosely: an older or newer operator wrote them. */
const inputs = z.array(
  z.object({
    reason: z.string(),
    field: z.string(),
    of: z.object({ kind: z.string(), name: z.string() }),
    fingerprint: z.string(),
    shown: z.string().optional(),
    named: z.literal(true).optional(),
  }),
);

export function writeInputs(list: readonly RestartInput[]): string {
  const text = JSON.stringify(list);
  if (text.length <= readableBytes) return text;
  return compressed + gzipSync(text, { level: 9 }).toString('base64');
}

/** Undefined where the annotation is missing or nobody can read it: then every input counts as new. */
export function readInputs(annotation: string | undefined): readonly RestartInput[] | undefined {
  if (annotation === undefined) return undefined;
  try {
    const text = annotation.startsWith(compressed)
      ? gunzipSync(Buffer.from(annotation.slice(compressed.length), 'base64'), {
          maxOutputLength: largestBytes,
        }).toString('utf8')
      : annotation;
    return inputs.parse(JSON.parse(text)) as readonly RestartInput[];
  } catch {
    return undefined;
  }
}
