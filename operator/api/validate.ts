import { secretLine } from '../../platform/settings/setting-text.ts';
import { z } from 'zod';
import { nameRecord } from '../../protocol/json/name-record.ts';
import { duplicateItems } from './duplicate-items.ts';
import { coreObjectName } from './fields.ts';
import { metadata, apiVersion, type CofferObject, type ConfigMap } from './object.ts';
import { type Secret } from '../contract/secret.ts';
import { eachKind, type Kind, namePattern } from './kinds.ts';
import { brokenRules, type Broken } from './rule.ts';

const secretKey = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[-._a-zA-Z0-9]+$/);

/** Parses the manifest of a core/v1 Secret. `stringData` wins over `data`, as in an API server. */
const secretManifest = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Secret'),
  metadata: metadata.extend({ name: coreObjectName }),
  type: z.string().max(253).optional(),
  immutable: z.boolean().optional(),
  data: nameRecord(secretKey, z.base64().max(1_400_000)).optional(),
  stringData: nameRecord(secretKey, z.string().max(1_048_576)).optional(),
});

function secretOf(manifest: z.output<typeof secretManifest>): Secret {
  const data = Object.fromEntries(
    Object.entries(manifest.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
  const whole = Object.entries({ ...data, ...manifest.stringData }).map(([key, value]) => [key, secretLine(value)]);
  return { name: manifest.metadata.name, data: Object.fromEntries(whole) as Record<string, string> };
}

/** Parses the manifest of a core/v1 ConfigMap. Only its `data` is used. */
const configMapManifest = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('ConfigMap'),
  metadata: metadata.extend({ name: coreObjectName }),
  immutable: z.boolean().optional(),
  data: nameRecord(z.string().max(253), z.string().max(1_048_576)).optional(),
  binaryData: nameRecord(z.string().max(253), z.string().max(1_400_000)).optional(),
});

type Validated =
  | { readonly kind: 'object'; readonly object: CofferObject }
  | { readonly kind: 'secret'; readonly secret: Secret }
  | { readonly kind: 'config-map'; readonly configMap: ConfigMap }
  | { readonly kind: 'invalid'; readonly problems: readonly Broken[] };

export interface ValidateOptions {
  /**
   * `ignore` is for objects from an API server, which checked them by its CRD. A CRD that is newer than this program may fill in defaults
   * of fields that this program does not know.
   */
  readonly unknownFields?: 'refuse' | 'ignore';
  /** True when rules count that only the API server enforces. */
  readonly asApiServer?: boolean;
}

/**
 * Validates a manifest like an API server with strict field validation: unknown fields, types and bounds, then the rules, then the rules on
 * changes against `previous`.
 */
export function validate(manifest: unknown, previous?: CofferObject, options: ValidateOptions = {}): Validated {
  const head = z.looseObject({ apiVersion: z.string(), kind: z.string() }).safeParse(manifest);
  if (!head.success) return invalid([{ field: 'kind', message: 'a manifest needs apiVersion and kind' }]);
  if (head.data.kind === 'Secret' && head.data.apiVersion === 'v1') {
    const secret = secretManifest.safeParse(manifest);
    return secret.success
      ? { kind: 'secret', secret: secretOf(secret.data) }
      : invalid(problemsOf(secret.error, new Set(['data', 'stringData'])));
  }
  if (head.data.kind === 'ConfigMap' && head.data.apiVersion === 'v1') {
    const configMap = configMapManifest.safeParse(manifest);
    return configMap.success
      ? { kind: 'config-map', configMap: { name: configMap.data.metadata.name, data: configMap.data.data ?? {} } }
      : invalid(problemsOf(configMap.error));
  }
  if (head.data.apiVersion !== apiVersion) {
    return unknownKind(head.data.apiVersion, head.data.kind);
  }
  const check = checks.get(head.data.kind);
  if (check === undefined) return unknownKind(head.data.apiVersion, head.data.kind);
  return check(manifest, previous, options);
}

type Check = (manifest: unknown, previous: CofferObject | undefined, options: ValidateOptions) => Validated;

const checks: ReadonlyMap<string, Check> = new Map(
  eachKind((kind): readonly [string, Check] => [
    kind.kind,
    (manifest, previous, options) => validateKind(kind, manifest, previous, options),
  ]),
);

function validateKind<Spec>(
  kind: Kind<Spec>,
  manifest: unknown,
  previous: CofferObject | undefined,
  { unknownFields = 'refuse', asApiServer = false }: ValidateOptions,
): Validated {
  const schema = z.strictObject({
    apiVersion: z.literal(apiVersion),
    kind: z.literal(kind.kind),
    metadata: metadata.extend({
      name: metadata.shape.name
        .max(kind.maxNameLength)
        .regex(new RegExp(namePattern(kind)), 'must begin with a letter: Services have this name'),
    }),
    spec: kind.spec,
    status: z.unknown().optional(),
  });
  const strict = schema.safeParse(manifest);
  const whole =
    strict.success || unknownFields === 'refuse' ? strict : schema.safeParse(withoutUnknown(manifest, strict.error));
  if (!whole.success) return invalid(problemsOf(whole.error));
  const { spec } = whole.data;
  // The output of a kind's schema is the spec of that kind.
  const old = previous?.kind === kind.kind ? (previous.spec as unknown as Spec) : undefined;
  const broken = brokenRules(kind.rules, spec, old, asApiServer);
  const issues = [...duplicateItems(kind.spec, spec), ...broken];
  if (issues.length > 0) return invalid(issues);
  return {
    kind: 'object',
    object: { kind: kind.kind, metadata: whole.data.metadata, spec } as unknown as CofferObject,
  };
}

/** Returns a copy without the unknown fields of the error. */
function withoutUnknown(manifest: unknown, error: z.ZodError): unknown {
  const copy: unknown = structuredClone(manifest);
  for (const issue of error.issues) {
    if (issue.code !== 'unrecognized_keys') continue;
    let node = copy as Record<PropertyKey, unknown> | undefined;
    for (const part of issue.path) node = node?.[part] as Record<PropertyKey, unknown> | undefined;
    for (const key of issue.keys) delete node?.[key];
  }
  return copy;
}

function unknownKind(version: string, kind: string): Validated {
  const known = `${[...checks.keys()].join(', ')} (${apiVersion}), Secret and ConfigMap (v1) are`;
  return invalid([{ field: 'kind', message: `${kind} (${version}) is not known here; ${known}` }]);
}

function invalid(problems: readonly Broken[]): Validated {
  return { kind: 'invalid', problems };
}

/** Returns one problem for each invalid field, and names unknown fields. Values of secrets are never repeated. */
function problemsOf(error: z.ZodError, secret: ReadonlySet<string> = new Set()): Broken[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ field: [...path, key].join('.'), message: 'unknown field' }));
    }
    const message = secret.has(path[0] ?? '') ? 'not a valid value' : issue.message;
    return [{ field: path.join('.') || 'manifest', message }];
  });
}
