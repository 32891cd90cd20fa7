import { z } from 'zod';
import { coreObjectName } from './fields.ts';
import { metadata, type Secret } from './object.ts';

const secretKey = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[-._a-zA-Z0-9]+$/);

/** The manifest of a core/v1 Secret; `stringData` wins over `data`, as on an API server. */
export const secretManifest = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Secret'),
  metadata: metadata.extend({ name: coreObjectName }),
  type: z.string().max(253).optional(),
  immutable: z.boolean().optional(),
  data: z.record(secretKey, z.base64().max(1_400_000)).optional(),
  stringData: z.record(secretKey, z.string().max(1_048_576)).optional(),
});

export function secretOf(manifest: z.output<typeof secretManifest>): Secret {
  const data: Record<string, string> = {};
  for (const [key, value] of Object.entries(manifest.data ?? {})) {
    data[key] = Buffer.from(value, 'base64').toString('utf8');
  }
  return { name: manifest.metadata.name, data: { ...data, ...manifest.stringData } };
}
