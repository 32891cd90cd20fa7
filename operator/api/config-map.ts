import { z } from 'zod';
import { coreObjectName } from './fields.ts';
import { metadata } from './object.ts';

/** The manifest of a core/v1 ConfigMap. Only its `data` is used. */
export const configMapManifest = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('ConfigMap'),
  metadata: metadata.extend({ name: coreObjectName }),
  immutable: z.boolean().optional(),
  data: z.record(z.string().max(253), z.string().max(1_048_576)).optional(),
  binaryData: z.record(z.string().max(253), z.string().max(1_400_000)).optional(),
});
