import type { Tenant } from '../api/object.ts';
import type { SecretUse } from '../contract/secret.ts';
import type { CaBundleFrom } from '../api/fields.ts';
import {
  mounted,
  text,
  type EnvironmentVariable,
  type Mount,
  type MountedFile,
  type RestartInput,
} from '../contract/workload.ts';
import { secretFileVariable, variable, filesMount, volumeMount } from './rendered-part.ts';
import { secretValue, type KeyRef, type RenderContext } from './render-context.ts';
import { caBundle, fieldInput, secretInput } from './restart-inputs.ts';

interface RenderedStorage {
  /** Reports whether the server stores data on the volume `data`. */
  readonly embedded: boolean;
  readonly environment: readonly EnvironmentVariable[];
  readonly mounts: readonly Mount[];
  readonly inputs: readonly RestartInput[];
}

/** Renders the store of records and blobs: on the tenant's volume `data`, or elsewhere by `SVC_STORE_*`. */
export function renderStorage(tenant: Tenant, context: RenderContext): RenderedStorage {
  const { records, blobs, path } = tenant.spec.storage;
  const of = { kind: 'Tenant', name: tenant.metadata.name } as const;
  const embedded = records === undefined || blobs === undefined;
  const environment: EnvironmentVariable[] = [];
  const files: MountedFile[] = [];
  const inputs: RestartInput[] = [];
  const secretSetting = (setting: string, ref: KeyRef, field: string, use: SecretUse): void => {
    inputs.push(secretInput(ref, secretValue(context.secrets, ref, `${field} of Tenant ${of.name}`, use), context));
    environment.push(secretFileVariable(setting, text`${mounted('store', setting)}`));
    files.push({
      path: setting,
      content: { kind: 'secret', secret: ref.name, key: ref.key },
      reloads: false,
    });
  };
  const authorities = (setting: string, from: CaBundleFrom | undefined, field: string): void => {
    if (from === undefined) return;
    const { value, input } = caBundle(from, `${field}.caBundleFrom of Tenant ${of.name}`, context);
    inputs.push(input);
    environment.push(variable(setting, text`${mounted('store', setting)}`));
    files.push({ path: setting, content: { kind: 'text', text: value }, reloads: false });
  };
  // A volume grows without a restart. Only another folder of the local runtime needs one.
  if (path !== undefined) inputs.push(fieldInput('TenantChanged', 'spec.storage.path', of, path, context));
  if (records !== undefined) {
    inputs.push(fieldInput('TenantChanged', 'spec.storage.records', of, records, context));
    const field = 'spec.storage.records.postgres';
    secretSetting('SVC_STORE_RECORDS', records.postgres.urlSecretRef, `${field}.urlSecretRef`, 'database');
    authorities('SVC_STORE_RECORDS_CA_FILE', records.postgres.caBundleFrom, field);
  }
  if (blobs !== undefined) inputs.push(fieldInput('TenantChanged', 'spec.storage.blobs', of, blobs, context));
  if (blobs?.sharedVolume !== undefined) {
    environment.push(variable('SVC_STORE_BLOBS', text`${mounted('blobs')}`));
  }
  if (blobs?.s3 !== undefined) {
    const { endpoint, region, bucket, prefix, credentialsSecret, caBundleFrom } = blobs.s3;
    environment.push(
      variable('SVC_STORE_BLOBS', `s3://${[bucket, ...(prefix === undefined ? [] : [prefix])].join('/')}`),
      variable('SVC_STORE_BLOBS_S3_ENDPOINT', endpoint),
      ...(region === undefined ? [] : [variable('SVC_STORE_BLOBS_S3_REGION', region)]),
    );
    const field = 'spec.storage.blobs.s3.credentialsSecret';
    const { name } = credentialsSecret;
    secretSetting('SVC_STORE_BLOBS_S3_ACCESS_KEY', { name, key: 'accessKey' }, field, 'object-storage');
    secretSetting('SVC_STORE_BLOBS_S3_SECRET_KEY', { name, key: 'secretKey' }, field, 'object-storage');
    authorities('SVC_STORE_BLOBS_S3_CA_FILE', caBundleFrom, 'spec.storage.blobs.s3');
  }
  const claimName = blobs?.sharedVolume?.claimName;
  return {
    embedded,
    environment,
    mounts: [
      ...(embedded ? [volumeMount('data', tenant.spec.storage, 'each')] : []),
      ...(claimName === undefined
        ? []
        : [{ kind: 'volume', name: 'blobs', claim: { kind: 'existing', claimName } } as const]),
      ...filesMount('store', files),
    ],
    inputs,
  };
}
