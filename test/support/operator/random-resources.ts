import { customResourceDefinition } from '../../../operator/api/crd.ts';
import { identityProviderKind, kmsConfigKind, tenantKind, type Kind } from '../../../operator/api/kinds.ts';
import type { CofferObject } from '../../../operator/api/object.ts';
import type { Secret } from '../../../operator/contract/secret.ts';
import { validate } from '../../../operator/api/validate.ts';
import type { RenderContext } from '../../../operator/render/render-context.ts';
import type { Setting } from '../../../protocol/settings/setting.ts';
import { settings } from '../../../protocol/settings/table.ts';
import { context, ownPair, pem } from './render-cases.ts';
import { manifestOf } from './rules/rule-case.ts';

// Resources at random that pass their schemas and rules, with values of every kind that people write, and the Secrets that they name.

/** @see https://en.wikipedia.org/wiki/Linear_congruential_generator */
export class Random {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }
  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}

const odd = [
  '',
  ' ',
  'x',
  '0',
  '-1',
  'on',
  'a b',
  'é',
  'a,b',
  '*',
  '1h',
  'a'.repeat(300),
  '${HOME}',
  'a/b',
  '[',
  '"',
  "'",
];
const sensible = [
  'https://h.example',
  'https://h.example/',
  'http://127.0.0.1:1',
  'https://u:p@h.example/a?b=c',
  'https://[::1]:9000',
  'https://h.example/.well-known/openid-configuration',
  'https://h.example/admin',
  'https://h.example/oauth_callback',
  'h.example:9092',
  'h.example',
  'coffer',
  'us-east-1',
  'openid',
  'cn=x,dc=example',
  '(uid=%s)',
  '10.0.0.0/8',
  '00000000-0000-4000-8000-000000000000',
  '/v1/key/create/*',
  '/v1/key/[a',
  '5m',
  '0s',
  '1000000d',
  'A',
];
const secretValues = [
  ...odd.filter((value) => value !== ''),
  'root-password',
  'postgres://coffer:secret@127.0.0.1:1/coffer',
  'postgres://coffer@127.0.0.1:1/coffer?sslmode=require',
  'value\n',
  'two\nlines',
  pem,
  ownPair.certPem,
  ownPair.keyPem,
  '{"type": "service_account"}',
  'name:short',
];

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

const schemas = new Map<string, Schema>();

/** Answers the schema of the spec of a kind, as the CRD has it. */
export function specSchema<Spec>(kind: Kind<Spec>): Schema {
  const known = schemas.get(kind.kind);
  if (known !== undefined) return known;
  const definition = customResourceDefinition(kind) as unknown as {
    readonly spec: { readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Schema } }] };
  };
  const schema = definition.spec.versions[0].schema.openAPIV3Schema.properties?.['spec'] ?? {};
  schemas.set(kind.kind, schema);
  return schema;
}

/** Answers a value that fits a schema; undefined where none is found. */
function valueFor(schema: Schema, random: Random): unknown {
  if (schema.enum !== undefined) return random.of(schema.enum);
  switch (schema.type) {
    case 'boolean':
      return random.below(2) === 0;
    case 'integer':
      return random.of([schema.minimum ?? 0, Math.min(schema.maximum ?? 10, 1_000), (schema.minimum ?? 0) + 1]);
    case 'array':
      return [0, 1].slice(0, random.below(3)).flatMap(() => valueFor(schema.items ?? {}, random) ?? []);
    case 'string': {
      const { pattern, minLength = 0, maxLength = 1e6 } = schema;
      const fits = (value: string) =>
        value.length >= minLength &&
        value.length <= maxLength &&
        (pattern === undefined || new RegExp(pattern).test(value));
      return random.of([...odd, ...sensible, 'x'.repeat(Math.min(maxLength, 100))].filter(fits));
    }
    case undefined:
    default:
      return schema.properties === undefined ? undefined : objectFor(schema, random);
  }
}

function objectFor({ properties = {}, required = [] }: Schema, random: Random): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) => {
      if (!required.includes(name) && random.below(2) === 0) return [];
      const value = valueFor(schema, random);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Secrets and ConfigMaps of any name, which have most keys. */
export function randomContext(random: Random): RenderContext {
  const known = context();
  const of = (values: readonly string[]) => {
    const made = new Map<string, string | undefined>();
    return new Proxy<Record<string, string>>(
      {},
      {
        get: (_, key) => {
          if (typeof key !== 'string') return undefined;
          if (!made.has(key)) made.set(key, random.below(5) === 0 ? undefined : random.of(values));
          return made.get(key);
        },
      },
    );
  };
  const secrets = new Map<string, Secret>();
  secrets.get = (name) => {
    const found = known.secrets.get(name) ?? Map.prototype.get.call(secrets, name);
    if (found !== undefined) return found as Secret;
    const secret: Secret = { name, data: of(secretValues) };
    secrets.set(name, secret);
    return secret;
  };
  const configMaps = new Map<string, Record<string, string>>();
  configMaps.get = (name) => {
    const found = Map.prototype.get.call(configMaps, name) as Record<string, string> | undefined;
    if (found !== undefined) return found;
    const data = of([pem, ownPair.certPem, ...odd, ...sensible]);
    configMaps.set(name, data);
    return data;
  };
  return { ...known, secrets, configMaps };
}

/** Values of a setting: mostly of its type, and sometimes any. */
function settingValue({ type, default: standard }: Setting, random: Random): string {
  if (random.below(4) === 0) return random.of(odd);
  if (standard !== undefined && standard !== '' && random.below(3) === 0) return standard;
  switch (type.kind) {
    case 'on-off':
      return random.of(['on', 'off', 'true', 'no']);
    case 'integer':
      return String(random.of([type.min, type.max, type.min - 1, type.min + 1]));
    case 'choice':
      return random.of(type.of);
    case 'duration':
      return random.of(['1s', '10m', '1d', '0s', '1000d', '1ms']);
    case 'size':
      return random.of(['1MiB', '10GiB', '0', '1', '1e3']);
    case 'url':
    case 'list':
    case 'path':
    case 'text':
      return random.of(sensible);
  }
}

// A path is one of the image of the pods, which is not known here.
const rows: readonly Setting[] = settings.filter(
  ({ scope, name, type }) =>
    scope !== 'per-provider' && type.kind !== 'path' && !/^SVC_(ROOT|STORE|CONFIG)_/.test(name),
);
const familyOf = ({ name }: Setting) => name.split('_').slice(0, 3).join('_');
const families = [...new Set(rows.map(familyOf))];

/** Most settings of one family, and few others. */
function randomSettings(random: Random): readonly object[] {
  const family = random.of(families);
  const suffix = random.of(['', '_T']);
  return rows
    .filter((row) => (familyOf(row) === family ? random.below(3) > 0 : random.below(rows.length) < 2))
    .map((row) => {
      const name = row.scope === 'per-target' ? row.name + suffix : row.name;
      return row.secret
        ? { name, valueFrom: { secretKeyRef: { name: 'given', key: name } } }
        : { name, value: settingValue(row, random) };
    });
}

/** The parts of a Tenant that its server reads. */
const parts = [
  'settings',
  'storage',
  'notificationTargets',
  'auditTargets',
  'tls',
  'addresses',
  'kubernetesServiceAccounts',
];

function valid(kind: string, name: string, spec: object): CofferObject | undefined {
  const result = validate(manifestOf(kind, name, spec as Record<string, unknown>), undefined, { asApiServer: true });
  return result.kind === 'object' ? result.object : undefined;
}

/** Answers a Tenant with one or two parts at random; undefined where the API server would refuse it. */
export function randomTenant(random: Random): CofferObject | undefined {
  const { properties = {} } = specSchema(tenantKind);
  const spec: Record<string, unknown> = { storage: { size: '1Gi' } };
  for (const part of [random.of(parts), random.of(parts)]) {
    const schema = properties[part];
    if (part === 'settings') spec[part] = randomSettings(random);
    else if (schema !== undefined) spec[part] = valueFor(schema, random);
  }
  return valid('Tenant', 'demo', spec);
}

export function randomProvider(random: Random): CofferObject | undefined {
  return valid('IdentityProvider', 'primary-iam', objectFor(specSchema(identityProviderKind), random));
}

/** The parts of a KMSConfig that its key service reads. */
const keyServiceParts = ['keystore', 'defaultKey', 'keys', 'cache', 'policies', 'enclave'];

export function randomKeyService(random: Random): CofferObject | undefined {
  const { properties = {} } = specSchema(kmsConfigKind);
  const keystores = Object.entries(properties['keystore']?.properties ?? {});
  const [kind, schema] = random.of(keystores);
  const spec: Record<string, unknown> = { defaultKey: 'first', keystore: { [kind]: objectFor(schema, random) } };
  for (const part of keyServiceParts.slice(1)) {
    const value = random.below(2) === 0 ? valueFor(properties[part] ?? {}, random) : undefined;
    if (value !== undefined) spec[part] = value;
  }
  return valid('KMSConfig', 'keys', spec);
}
