import { z } from 'zod';
import type { AccessKeySpec, UserSpec } from './user.ts';
import type { BucketSpec } from './bucket.ts';
import type { IdentityProviderSpec } from './identity-provider.ts';
import type { KMSConfigSpec } from './kms-config.ts';
import type { PolicyBindingSpec, PolicySpec } from './policy.ts';
import type { TenantSpec } from './tenant.ts';

/**
 * What a Secret may be used for. A person may be allowed to write resources and not to read Secrets; without this, a resource that names a
 * Secret and an address of that person's own would have the operator or a pod send it there.
 */
export const secretUses = [
  'identity-provider',
  'keystore',
  'database',
  'object-storage',
  'setting',
  'root-credentials',
  'access-key',
  'ca-bundle',
  'tls',
] as const;

export type SecretUse = (typeof secretUses)[number];

/** `coffer.dev/use-database: "true"` on the Secret. */
export function useLabel(use: SecretUse): string {
  return `coffer.dev/use-${use}`;
}

/** By its labels, or by a type of its own: `coffer.dev/database`; `kubernetes.io/tls` says it of itself. */
export function usesOf({
  labels = {},
  type,
}: {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly type?: string | undefined;
}): ReadonlySet<SecretUse> {
  return new Set(
    secretUses.filter(
      (use) =>
        labels[useLabel(use)] === 'true' ||
        type === `coffer.dev/${use}` ||
        (use === 'tls' && type === 'kubernetes.io/tls'),
    ),
  );
}

/** What to do where a Secret lacks the use that a field has for it. */
export function allowUse(secret: string, use: SecretUse): string {
  return `its owner must allow it: kubectl label secret ${secret} ${useLabel(use)}=true`;
}

export const apiGroup = 'coffer.dev';
export const apiVersion = `${apiGroup}/v1alpha1`;

const labels = z.record(z.string().max(317), z.string().max(262144)).optional();

/** What the local runtime understands of `metadata`. */
export const metadata = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
  namespace: z.string().max(63).optional(),
  labels,
  annotations: labels,
  generation: z.int().optional(),
  creationTimestamp: z.string().max(64).optional(),
});
type Metadata = z.output<typeof metadata>;

interface CustomObject<Kind extends string, Spec> {
  readonly kind: Kind;
  readonly metadata: Metadata;
  readonly spec: Spec;
}
export type Tenant = CustomObject<'Tenant', TenantSpec>;
export type IdentityProvider = CustomObject<'IdentityProvider', IdentityProviderSpec>;
export type KMSConfig = CustomObject<'KMSConfig', KMSConfigSpec>;
export type Bucket = CustomObject<'Bucket', BucketSpec>;
export type Policy = CustomObject<'Policy', PolicySpec>;
export type PolicyBinding = CustomObject<'PolicyBinding', PolicyBindingSpec>;
export type User = CustomObject<'User', UserSpec>;
export type AccessKey = CustomObject<'AccessKey', AccessKeySpec>;
/** What is in a tenant's server, and is told to it over its API. */
export type ManagedResource = Bucket | Policy | PolicyBinding | User | AccessKey;
export type CofferObject = Tenant | IdentityProvider | KMSConfig | ManagedResource;

/** A condition as kstatus, Flux and Argo CD read it. @see kubernetes-sigs/cli-utils pkg/kstatus */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

/** core/v1 Secret, with its values decoded. */
export interface Secret {
  readonly name: string;
  /** What its owner lets it be used for; undefined in the local runtime, where the author of a manifest writes its Secrets too. */
  readonly uses?: ReadonlySet<SecretUse>;
  /** That a resource names it, and it is not there. */
  readonly missing?: true;
  readonly data: Readonly<Record<string, string>>;
}

/** core/v1 ConfigMap, its `data`. */
export interface ConfigMap {
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
}
