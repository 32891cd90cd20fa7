import { ResourceError } from '../api/resource-error.ts';
import type { Tenant } from '../api/object.ts';
import type { SecretUse } from '../contract/secret.ts';
import {
  auditTypes,
  credentialFields,
  notificationTypes,
  targetPart,
  keysOf,
  requiredKeys,
  togetherIn,
  type TargetSpec,
  type TargetType,
} from '../api/tenant/target-fields.ts';
import { parseValue } from '../../platform/settings/parse-value.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { setting } from '../../protocol/settings/table.ts';
import { type EnvironmentVariable, mounted, type MountedFile, type RestartInput, text } from '../contract/workload.ts';
import { allowedSecret, type RenderContext, secretValue } from './render-context.ts';
import { type RenderedPart, secretFileVariable, variable } from './rendered-part.ts';
import { caBundle, fieldInput, secretInput } from './restart-inputs.ts';

interface RenderedTargets extends RenderedPart {
  /** The settings of all targets: `spec.settings` must not have them. */
  readonly reserved: readonly string[];
}

/**
 * Renders the targets of events and of audit entries as settings of the server. Secrets and certificates are files; a change of one restarts
 * the server, as a change of its settings does. Errors with `ResourceError`.
 */
export function renderTargets({ metadata, spec }: Tenant, context: RenderContext): RenderedTargets {
  const renderer = new TargetRenderer(metadata.name, context);
  for (const target of spec.notificationTargets ?? []) {
    renderer.add(target, { field: 'notificationTargets', types: notificationTypes, use: 'notification' });
  }
  for (const target of spec.auditTargets ?? []) {
    renderer.add(target, { field: 'auditTargets', types: auditTypes, use: 'audit' });
  }
  return renderer;
}

interface TargetList {
  readonly field: string;
  readonly types: readonly TargetType[];
  readonly use: SecretUse;
}

class TargetRenderer implements RenderedTargets {
  readonly environment: EnvironmentVariable[] = [];
  readonly files: MountedFile[] = [];
  readonly inputs: RestartInput[] = [];
  readonly reserved: string[] = [];
  readonly #tenant: string;
  readonly #context: RenderContext;

  constructor(tenant: string, context: RenderContext) {
    this.#tenant = tenant;
    this.#context = context;
  }

  add(target: TargetSpec, { field, types, use }: TargetList): void {
    const part = targetPart(target, types);
    if (part === undefined) return;
    const { type, values } = part;
    const suffix = `_${target.id}`;
    const where = `spec.${field}[${target.id}]`;
    const of = { kind: 'Tenant', name: this.#tenant } as const;
    this.inputs.push(fieldInput('SettingsChanged', where, of, target, this.#context));
    this.reserved.push(...type.settings.map((name) => name + suffix));
    for (const { name, kind, setting: row } of type.fields) {
      const value = values[name];
      if (value === undefined) continue;
      if (kind === 'value') this.#plain(row, value, suffix, `${where}.${type.type}.${name}`);
      else if (value === true) this.#queue(row, target.id, suffix);
    }
    if (target.queueLimit !== undefined) {
      this.#plain(`${type.prefix}QUEUE_LIMIT`, target.queueLimit, suffix, `${where}.queueLimit`);
    }
    this.#bundle(target, type, suffix, `${where}.caBundleFrom of Tenant ${this.#tenant}`);
    const keys = this.#credentials(target, type, suffix, {
      field: `${where}.credentialsSecret of Tenant ${this.#tenant}`,
      use,
    });
    for (const [one, other] of togetherIn(type)) {
      const has = (name: string) => values[name] !== undefined || keys.has(name);
      if (has(one) === has(other)) continue;
      throw new ResourceError(
        'InvalidSettings',
        `${where} of Tenant ${this.#tenant}: ${one} and ${other} belong together, as fields or keys of its Secret: set both, or neither`,
      );
    }
  }

  #plain(name: string, value: string | number | boolean, suffix: string, field: string): void {
    const written = typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
    try {
      parseValue(written, setting(name).type);
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      throw new ResourceError(
        'InvalidSettings',
        `${field} of Tenant ${this.#tenant} is "${written}": ${error.message}`,
      );
    }
    this.environment.push(variable(name, written, suffix));
  }

  #queue(name: string, id: string, suffix: string): void {
    this.environment.push(variable(name, text`${mounted('data', `audit/${id}`)}`, suffix));
  }

  #bundle({ caBundleFrom }: TargetSpec, { fields }: TargetType, suffix: string, field: string): void {
    const name = fields.find(({ kind }) => kind === 'ca-bundle')?.setting;
    if (caBundleFrom === undefined || name === undefined) return;
    const { value, input } = caBundle(caBundleFrom, field, this.#context);
    this.inputs.push(input);
    this.files.push({ path: name + suffix, content: { kind: 'text', text: value }, reloads: false });
    this.environment.push(variable(name, text`${mounted('targets', name + suffix)}`, suffix));
  }

  /** Renders what the Secret of a target holds, and answers its keys that the type knows. */
  #credentials(
    { credentialsSecret }: TargetSpec,
    type: TargetType,
    suffix: string,
    { field, use }: { readonly field: string; readonly use: SecretUse },
  ): ReadonlySet<string> {
    if (credentialsSecret === undefined) return new Set();
    const { secrets } = this.#context;
    const { name: secret, data } = allowedSecret(secrets, credentialsSecret.name, field, use);
    for (const key of requiredKeys(type)) secretValue(secrets, { name: secret, key }, field, use);
    const known = credentialFields(type).filter(({ name }) => data[name] !== undefined);
    if (known.length === 0) {
      const keys = Object.keys(data).sort().join(', ') || 'none';
      throw new ResourceError(
        'SecretKeyMissing',
        `${field} names the Secret ${secret}, which has none of the keys ${keysOf(type).join(', ')} (it has: ${keys})`,
      );
    }
    for (const { name: key, setting: name } of known) {
      const ref = { name: secret, key };
      this.inputs.push(secretInput(ref, secretValue(secrets, ref, field, use), this.#context));
      const path = name + suffix;
      this.files.push({ path, content: { kind: 'secret', secret, key }, reloads: false });
      const file = text`${mounted('targets', path)}`;
      this.environment.push(
        setting(name).secret ? secretFileVariable(name, file, suffix) : variable(name, file, suffix),
      );
    }
    return new Set(known.map(({ name }) => name));
  }
}
