import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { RestartInput, RestartReason } from '../workload.ts';
import type { RenderContext } from './render-context.ts';

/**
 * One input for each field of a spec that is not at its default, by the schema's own list of fields, so that no field is forgotten.
 */
export function specInputs(
  schema: z.ZodObject,
  spec: Readonly<Record<string, unknown>>,
  of: RestartInput['of'],
  reasonOf: (field: string) => RestartReason | undefined,
  context: Pick<RenderContext, 'fingerprint'>,
): RestartInput[] {
  const inputs: RestartInput[] = [];
  for (const [field, type] of Object.entries(schema.shape)) {
    const reason = reasonOf(field);
    const value = spec[field];
    if (reason === undefined || isDefault(type, value)) continue;
    inputs.push({ reason, field: `spec.${field}`, of, fingerprint: context.fingerprint(canonical(value)) });
  }
  return inputs;
}

export function secretInput(
  ref: { readonly name: string; readonly key: string },
  value: string,
  context: Pick<RenderContext, 'fingerprint'>,
): RestartInput {
  return {
    reason: 'SecretChanged',
    field: `key ${ref.key}`,
    of: { kind: 'Secret', name: ref.name },
    fingerprint: context.fingerprint(value),
  };
}

/** JSON with sorted keys: two spellings of one value are one text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, node: unknown) =>
    node !== null && typeof node === 'object' && !Array.isArray(node)
      ? Object.fromEntries(Object.entries(node).sort(([a], [b]) => (a < b ? -1 : 1)))
      : node,
  );
}

function isDefault(type: z.core.$ZodType, value: unknown): boolean {
  if (value === undefined) return true;
  const standard = (type as z.ZodType).safeParse(undefined);
  return standard.success && isDeepStrictEqual(standard.data, value);
}
