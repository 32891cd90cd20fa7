import { secretText } from '../../platform/settings/setting-text.ts';
import { allowUse } from '../api/kubectl-argument.ts';
import { ResourceError } from '../api/resource-error.ts';
import type { IssuedCertificate, ResourceRef } from '../contract/workload.ts';
import { type Secret, type SecretUse } from '../contract/secret.ts';

/** The inputs of rendering, apart from the resource itself. */
export interface RenderContext {
  readonly secrets: ReadonlyMap<string, Secret>;
  /** The `data` of each ConfigMap, by its name. */
  readonly configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly certificates: ReadonlyMap<string, IssuedCertificate>;
  /** Image of resources that name none; undefined in the local runtime. */
  readonly operandImage?: string;
  /** Returns a keyed digest, so that values can be compared and recorded without being stored. */
  readonly fingerprint: (value: string) => string;
}

export interface KeyRef {
  readonly name: string;
  readonly key: string;
}

/**
 * Returns the value of a key of a Secret, without what ends its line. Errors with a `ResourceError` that names the field with the reference.
 *
 * @param use the use of the value; `own` for a Secret that the operator made and named itself
 */
export function secretValue(
  secrets: ReadonlyMap<string, Secret>,
  ref: KeyRef,
  field: string,
  use: SecretUse | 'own',
): string {
  const { data } = allowedSecret(secrets, ref.name, field, use);
  const value = data[ref.key];
  if (value === undefined || value === '') throw keyMissing('Secret', data, ref, field);
  try {
    return secretText(value);
  } catch (error) {
    throw new ResourceError(
      'SecretInvalid',
      `${field}: ${ref.key} of the Secret ${ref.name} ${(error as Error).message}`,
    );
  }
}

/** Returns a Secret whose owner allows the use. Errors with a `ResourceError` that names the field with the reference. */
export function allowedSecret(
  secrets: ReadonlyMap<string, Secret>,
  name: string,
  field: string,
  use: SecretUse | 'own',
): Secret {
  const secret = secrets.get(name);
  if (secret === undefined || secret.missing === true) {
    throw new ResourceError('SecretNotFound', `${field} names the Secret ${name}, which does not exist`);
  }
  if (use !== 'own' && secret.uses?.has(use) === false) {
    throw new ResourceError('SecretNotAllowed', `${field} names the Secret ${name}; ${allowUse(secret, use)}`);
  }
  return secret;
}

/** Returns the value of a key of a ConfigMap. Errors with a `ResourceError` that names the field with the reference. */
export function configMapValue(configMaps: RenderContext['configMaps'], ref: KeyRef, field: string): string {
  const data = configMaps.get(ref.name);
  if (data === undefined) {
    throw new ResourceError('ConfigMapNotFound', `${field} names the ConfigMap ${ref.name}, which does not exist`);
  }
  const value = data[ref.key];
  if (value === undefined) throw keyMissing('ConfigMap', data, ref, field);
  return value;
}

/** Returns the certificate of this name. Errors with a `ResourceError` while it is not made yet. */
export function issuedCertificate(
  certificates: RenderContext['certificates'],
  name: string,
  what: string,
): IssuedCertificate {
  const certificate = certificates.get(name);
  if (certificate === undefined) throw new ResourceError('CertificateMissing', `${what} (${name}) is not made yet`);
  return certificate;
}

function keyMissing(
  kind: 'Secret' | 'ConfigMap',
  data: Readonly<Record<string, string>>,
  { name, key }: KeyRef,
  field: string,
): ResourceError {
  const keys = Object.keys(data).sort().join(', ') || 'none';
  return new ResourceError(
    `${kind}KeyMissing`,
    `${field} names the key ${key} of the ${kind} ${name}, which has no such key (it has: ${keys})`,
  );
}

/**
 * Names the workload of a resource: `demo-server`, `keys-key-service`. The endings differ, so a Tenant and a KMSConfig of one name do not
 * collide.
 */
export function workloadName(owner: ResourceRef): string {
  return `${owner.name}-${owner.kind === 'KMSConfig' ? 'key-service' : 'server'}`;
}

/** Returns the resource of a workload name; undefined for a name that `workloadName` never makes. */
export function workloadOwner(workload: string): ResourceRef | undefined {
  const [, server] = /^(.+)-server$/.exec(workload) ?? [];
  if (server !== undefined) return { kind: 'Tenant', name: server };
  const [, keyService] = /^(.+)-key-service$/.exec(workload) ?? [];
  return keyService === undefined ? undefined : { kind: 'KMSConfig', name: keyService };
}
