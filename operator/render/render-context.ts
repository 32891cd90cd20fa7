import type { IssuedCertificate, ResourceReference } from '../workload.ts';
import type { Secret } from '../api/object.ts';

/** What rendering needs beside the resource itself. */
export interface RenderContext {
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly certificates: ReadonlyMap<string, IssuedCertificate>;
  /** Keyed digest of a value, so that values can be compared and recorded without being kept. */
  readonly fingerprint: (value: string) => string;
}

/** Why a resource cannot be rendered; becomes its condition. */
export class RenderProblem extends Error {
  override readonly name = 'RenderProblem';
  readonly reason: RenderProblemReason;
  constructor(reason: RenderProblemReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export type RenderProblemReason =
  | 'SecretNotFound'
  | 'SecretKeyMissing'
  | 'KMSConfigNotFound'
  | 'InvalidSettings'
  | 'KeyPrefixOverlap'
  | 'CertificateMissing';

/** The value of a Secret's key. Errors with a `RenderProblem` that names the field which refers to it. */
export function secretValue(
  secrets: ReadonlyMap<string, Secret>,
  ref: { readonly name: string; readonly key: string },
  field: string,
): string {
  const secret = secrets.get(ref.name);
  if (secret === undefined) {
    throw new RenderProblem('SecretNotFound', `${field} names the Secret ${ref.name}, which does not exist`);
  }
  const value = secret.data[ref.key];
  if (value === undefined || value === '') {
    const keys = Object.keys(secret.data).sort().join(', ') || 'none';
    throw new RenderProblem(
      'SecretKeyMissing',
      `${field} names the key ${ref.key} of the Secret ${ref.name}, which has no such key (it has: ${keys})`,
    );
  }
  return value;
}

/** `demo-server`, `keys-key-service`: the two endings differ, so a Tenant and a KMSConfig of one name do not collide. */
export function workloadName(owner: ResourceReference): string {
  return `${owner.name}-${owner.kind === 'KMSConfig' ? 'key-service' : 'server'}`;
}
