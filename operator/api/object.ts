import { z } from 'zod';
import type { AccessKeySpec, UserSpec } from './user.ts';
import type { BucketSpec } from './bucket.ts';
import type { IdentityProviderSpec } from './identity-provider.ts';
import type { KMSConfigSpec } from './kms-config.ts';
import type { PolicyBindingSpec, PolicySpec } from './policy.ts';
import type { TenantSpec } from './tenant.ts';

export const apiGroup = 'coffer.dev';
export const apiVersion = `${apiGroup}/v1alpha1`;

const labels = z.record(z.string().max(317), z.string().max(262144)).optional();

/** The fields of `metadata` that the local runtime reads. */
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
/** A resource in a tenant's server, which the operator applies by the API of the server. */
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

/** core/v1 ConfigMap, its `data`. */
export interface ConfigMap {
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
}
