import { ProgramError } from '../../platform/errors/program-error.ts';
import { ResourceError } from '../api/resource-error.ts';
import { setting, settings } from '../../protocol/settings/table.ts';
import type { Setting } from '../../protocol/settings/setting.ts';
import { parseValue } from '../../platform/settings/parse-value.ts';
import type { Tenant } from '../api/object.ts';
import { mounted, text, type EnvironmentVariable, type MountedFile, type RestartInput } from '../contract/workload.ts';
import { secretFileVariable, variable, nothing, type RenderedPart } from './rendered-part.ts';
import { configMapValue, secretValue, type RenderContext, issuedCertificate } from './render-context.ts';
import { configMapInput, fieldInput, secretInput } from './restart-inputs.ts';
import { serverCertificate } from './certificates.ts';

export const regionSetting = 'SVC_REGION';
/** The region of a server without the setting. */
export const standardRegion = setting(regionSetting).default ?? '';

type TenantSetting = NonNullable<Tenant['spec']['settings']>[number];

interface RenderedSettings {
  readonly environment: readonly EnvironmentVariable[];
  readonly files: readonly MountedFile[];
  readonly inputs: readonly RestartInput[];
}

/**
 * Renders `spec.settings` of a tenant, checked against the settings table. `reserved` has the names that the operator renders from other
 * fields. Errors with a `ResourceError` that lists every problem.
 */
export function renderSettings(
  tenant: Tenant,
  reserved: ReadonlySet<string>,
  mount: string,
  context: Pick<RenderContext, 'secrets' | 'configMaps' | 'fingerprint'>,
): RenderedSettings {
  const given = tenant.spec.settings ?? [];
  const problems = given.flatMap((row) => issueOf(row, reserved) ?? []);
  if (problems.length > 0) throw new ResourceError('InvalidSettings', problems.join('; '));
  const of = { kind: 'Tenant', name: tenant.metadata.name } as const;
  const environment: EnvironmentVariable[] = [];
  const files: MountedFile[] = [];
  const inputs: RestartInput[] = [];
  for (const { name, value, valueFrom } of given) {
    const field = `setting ${name}`;
    const secret = valueFrom?.secretKeyRef;
    const configMap = valueFrom?.configMapKeyRef;
    const input = fieldInput('SettingsChanged', field, of, [value, valueFrom], context);
    inputs.push(
      name === regionSetting
        ? {
            ...input,
            shown: regionOf(
              configMap === undefined
                ? value
                : configMapValue(context.configMaps, configMap, `${field} of Tenant ${of.name}`),
            ),
          }
        : input,
    );
    const base = rowOf(name)?.name ?? name;
    const suffix = name.slice(base.length);
    if (secret !== undefined) {
      inputs.push(
        secretInput(secret, secretValue(context.secrets, secret, `${field} of Tenant ${of.name}`, 'setting'), context),
      );
      environment.push(secretFileVariable(base, text`${mounted(mount, name)}`, suffix));
      files.push({ path: name, content: { kind: 'secret', secret: secret.name, key: secret.key }, reloads: false });
    } else if (configMap !== undefined) {
      const found = configMapValue(context.configMaps, configMap, `${field} of Tenant ${of.name}`);
      const issue = valueError(name, found);
      if (issue !== undefined) throw new ResourceError('InvalidSettings', issue);
      inputs.push(configMapInput(configMap, found, context));
      environment.push(variable(base, found, suffix));
    } else environment.push(variable(base, value ?? '', suffix));
  }
  return { environment, files, inputs };
}

/** Reads a region as the server does: blanks around it do not count, and an empty one counts as not set. */
function regionOf(value: string | undefined): string {
  const region = (value ?? '').trim();
  return region === '' ? standardRegion : region;
}

function issueOf({ name, value, valueFrom }: TenantSetting, reserved: ReadonlySet<string>): string | undefined {
  const row = rowOf(name);
  if (row === undefined) return `${name} is no setting of the server`;
  if (row.scope === 'per-provider') return `${name} belongs to an IdentityProvider`;
  if (reserved.has(name)) return `${name} is made by the operator from other fields of the Tenant`;
  if (row.secret && valueFrom?.secretKeyRef === undefined) {
    return `${name} is a secret: give it by valueFrom.secretKeyRef`;
  }
  if (!row.secret && valueFrom?.secretKeyRef !== undefined) {
    return `${name} is no secret: give it as value, or by valueFrom.configMapKeyRef`;
  }
  return value === undefined ? undefined : valueError(name, value);
}

function valueError(name: string, value: string): string | undefined {
  const row = rowOf(name);
  if (row === undefined) return undefined;
  try {
    parseValue(value, row.type);
    return undefined;
  } catch (error) {
    if (error instanceof ProgramError) return `${name} is "${value}": ${error.message}`;
    throw error;
  }
}

/** Settings of targets have the suffix of their target: SVC_NOTIFY_KAFKA_SASL_MECHANISM_K is one of SASL_MECHANISM, and not of SASL. */
function rowOf(name: string): Setting | undefined {
  return settings
    .filter(
      (candidate) =>
        candidate.name === name || (candidate.scope === 'per-target' && name.startsWith(`${candidate.name}_`)),
    )
    .toSorted((a, b) => b.name.length - a.name.length)[0];
}

/** Renders TLS of the S3 API and the console. The server re-reads its certificate, so only turning TLS on or off restarts it. */
export function renderTls(tenant: Tenant, context: RenderContext): RenderedPart {
  const { tls } = tenant.spec;
  if (tls === undefined) return nothing;
  const of = { kind: 'Tenant', name: tenant.metadata.name } as const;
  return {
    environment: [
      variable('SVC_TLS_CERT_FILE', text`${mounted('tls', 'tls.crt')}`),
      variable('SVC_TLS_KEY_FILE', text`${mounted('tls', 'tls.key')}`),
    ],
    files: tls.secretName === undefined ? madeFiles(of.name, context) : ownFiles(tls.secretName, of.name, context),
    inputs: [fieldInput('TenantChanged', 'spec.tls', of, true, context)],
  };
}

function ownFiles(secret: string, tenant: string, context: RenderContext): readonly MountedFile[] {
  return (['tls.crt', 'tls.key'] as const).map((key) => {
    secretValue(context.secrets, { name: secret, key }, `spec.tls.secretName of Tenant ${tenant}`, 'tls');
    return { path: key, content: { kind: 'secret', secret, key }, reloads: true };
  });
}

function madeFiles(tenant: string, context: RenderContext): readonly MountedFile[] {
  const certificate = serverCertificate(tenant);
  issuedCertificate(context.certificates, certificate, `the certificate of Tenant ${tenant}`);
  return [
    { path: 'tls.crt', content: { kind: 'certificate', certificate, part: 'certificate' }, reloads: true },
    { path: 'tls.key', content: { kind: 'certificate', certificate, part: 'key' }, reloads: true },
  ];
}
