import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { RestartInput, RestartReason } from '../contract/workload.ts';
import type { CaBundleFrom } from '../api/fields.ts';
import type { KMSConfig, Tenant } from '../api/object.ts';
import { restartAnnotation } from '../api/tenant.ts';
import { configMapValue, type KeyRef, type RenderContext, secretValue } from './render-context.ts';

/**
 * Returns one input for each field of a spec that is not at its default. The schema lists the fields, so that none is forgotten.
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
    inputs.push(fieldInput(reason, `spec.${field}`, of, withoutDefaults(type, value), context));
  }
  return inputs;
}

export function secretInput(ref: KeyRef, value: string, context: Pick<RenderContext, 'fingerprint'>): RestartInput {
  return {
    reason: 'SecretChanged',
    field: `key ${ref.key}`,
    of: { kind: 'Secret', name: ref.name },
    fingerprint: context.fingerprint(value),
  };
}

export function configMapInput(ref: KeyRef, value: string, context: Pick<RenderContext, 'fingerprint'>): RestartInput {
  return {
    reason: 'ConfigMapChanged',
    field: `key ${ref.key}`,
    of: { kind: 'ConfigMap', name: ref.name },
    fingerprint: context.fingerprint(value),
  };
}

/** Returns the CA certificates that a field names. Errors with `ResourceError`. */
export function caBundle(
  { configMapKeyRef, secretKeyRef }: CaBundleFrom,
  field: string,
  context: RenderContext,
): { readonly value: string; readonly input: RestartInput } {
  if (configMapKeyRef !== undefined) {
    const value = configMapValue(context.configMaps, configMapKeyRef, field);
    return { value, input: configMapInput(configMapKeyRef, value, context) };
  }
  if (secretKeyRef === undefined) throw new Error(`${field} names neither a ConfigMap nor a Secret`);
  const value = secretValue(context.secrets, secretKeyRef, field, 'ca-bundle');
  return { value, input: secretInput(secretKeyRef, value, context) };
}

/** Returns the input of a nested part of a spec, or of a field of which only a part counts. */
export function fieldInput(
  reason: RestartReason,
  field: string,
  of: RestartInput['of'],
  value: unknown,
  context: Pick<RenderContext, 'fingerprint'>,
): RestartInput {
  return { reason, field, of, fingerprint: context.fingerprint(canonical(value)) };
}

/**
 * Returns the input of the running image. A new default of the operator counts as a change; a spec that names the default that already runs
 * does not.
 */
export function imageInput(
  of: RestartInput['of'],
  image: string | undefined,
  context: Pick<RenderContext, 'fingerprint'>,
  isNamed = false,
): readonly RestartInput[] {
  if (image === undefined) return [];
  const named = isNamed ? ({ named: true } as const) : {};
  return [{ ...fieldInput('ImageChanged', 'spec.image', of, image, context), shown: image, ...named }];
}

/** Returns the input of the annotation by which a user requests a restart. */
export function restartRequest(
  { kind, metadata }: Tenant | KMSConfig,
  context: Pick<RenderContext, 'fingerprint'>,
): readonly RestartInput[] {
  const value = metadata.annotations?.[restartAnnotation];
  if (value === undefined) return [];
  return [
    {
      reason: 'RestartRequested',
      field: `annotation ${restartAnnotation}`,
      of: { kind, name: metadata.name },
      fingerprint: context.fingerprint(value),
    },
  ];
}

/** Writes JSON with sorted keys, so that two spellings of one value give one text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, node: unknown) =>
    node !== null && typeof node === 'object' && !Array.isArray(node)
      ? Object.fromEntries(Object.entries(node).sort(([a], [b]) => (a < b ? -1 : 1)))
      : node,
  );
}

/**
 * Removes defaults at every level of a value, so that a new version of the operator with a new field renders the same fingerprint.
 */
export function withoutDefaults(type: z.core.$ZodType, value: unknown): unknown {
  const inner = unwrapped(type);
  if (value === null || typeof value !== 'object') return value;
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => withoutDefaults(inner.element, item));
  }
  if (!(inner instanceof z.ZodObject)) return value;
  const shape: Readonly<Record<string, z.core.$ZodType | undefined>> = inner.shape;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, part]) => {
      const field = shape[key];
      if (field === undefined) return [[key, part]];
      return isDefault(field, part) ? [] : [[key, withoutDefaults(field, part)]];
    }),
  );
}

function unwrapped(type: z.core.$ZodType): z.core.$ZodType {
  const wraps = type instanceof z.ZodOptional || type instanceof z.ZodDefault || type instanceof z.ZodPrefault;
  return wraps ? unwrapped(type.unwrap()) : type;
}

function isDefault(type: z.core.$ZodType, value: unknown): boolean {
  if (value === undefined) return true;
  const standard = (type as z.ZodType).safeParse(undefined);
  return standard.success && isDeepStrictEqual(standard.data, value);
}
