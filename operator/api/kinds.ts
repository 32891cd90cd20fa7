import type { z } from 'zod';
import type { ResourceKind } from '../contract/workload.ts';
import { accessKeyRules, accessKeySpec, type AccessKeySpec, userRules, userSpec, type UserSpec } from './user.ts';
import { bucketRules, bucketSpec, type BucketSpec } from './bucket.ts';
import { identityProviderRules, identityProviderSpec, type IdentityProviderSpec } from './identity-provider.ts';
import { kmsConfigRules, kmsConfigSpec, type KMSConfigSpec } from './kms-config.ts';
import {
  policyBindingRules,
  policyBindingSpec,
  type PolicyBindingSpec,
  policyRules,
  policySpec,
  type PolicySpec,
} from './policy.ts';
import type { Rules } from './rule.ts';
import {
  bucketStatus,
  credentialsStatus,
  identityProviderStatus,
  kmsConfigStatus,
  policyBindingStatus,
  policyStatus,
  tenantStatus,
} from './status.ts';
import { tenantRules } from './tenant/tenant-rules.ts';
import { tenantSpec, type TenantSpec } from './tenant.ts';

interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  /** 1 shows the column with `-o wide` only. */
  readonly priority?: 1;
}

/** The definition of a kind: its names, its schema, its rules, and the columns of `kubectl get`. */
export interface Kind<Spec> {
  readonly kind: ResourceKind;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  /** Maximum length of `metadata.name`: names and labels of at most 63 characters begin with it. */
  readonly maxNameLength: number;
  readonly spec: z.ZodType<Spec>;
  /** True when Services have its name, which must begin with a letter. */
  readonly names?: 'services';
  /** Schema of the status. */
  readonly status: z.ZodObject;
  readonly rules: Rules<Spec>;
  /** True when the scale subresource can set `spec.replicas`. */
  readonly scales?: true;
  readonly columns: readonly PrinterColumn[];
}

const condition = (type: string, part: 'status' | 'reason' | 'message') =>
  `.status.conditions[?(@.type=="${type}")].${part}`;

const ready: PrinterColumn = { name: 'Ready', type: 'string', jsonPath: condition('Ready', 'status') };
const reason: PrinterColumn = { name: 'Reason', type: 'string', jsonPath: condition('Ready', 'reason') };
const message: PrinterColumn = { name: 'Message', type: 'string', jsonPath: condition('Ready', 'message') };
const servers: PrinterColumn = { name: 'Servers', type: 'string', jsonPath: '.status.servers' };
const version: PrinterColumn = { name: 'Version', type: 'string', jsonPath: '.status.version' };
const tenantOf: PrinterColumn = { name: 'Tenant', type: 'string', jsonPath: '.spec.tenantRef.name' };
const accessKey: PrinterColumn = { name: 'Access Key', type: 'string', jsonPath: '.status.accessKey' };
const secret: PrinterColumn = { name: 'Secret', type: 'string', jsonPath: '.status.credentialsSecret' };
const age: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

const wide = (column: PrinterColumn): PrinterColumn => ({ ...column, priority: 1 });

export const tenantKind: Kind<TenantSpec> = {
  kind: 'Tenant',
  plural: 'tenants',
  shortNames: ['ten'],
  description: 'Tenant is a storage server with its console, its identity providers and its encryption.',
  maxNameLength: 40,
  names: 'services',
  spec: tenantSpec,
  status: tenantStatus,
  rules: tenantRules,
  scales: true,
  columns: [
    ready,
    servers,
    { name: 'Health', type: 'string', jsonPath: '.status.health' },
    version,
    age,
    wide(reason),
    wide(message),
    wide({ name: 'Identity', type: 'string', jsonPath: condition('IdentityReady', 'status') }),
    wide({ name: 'Encryption', type: 'string', jsonPath: condition('KMSReady', 'status') }),
  ],
};

export const identityProviderKind: Kind<IdentityProviderSpec> = {
  kind: 'IdentityProvider',
  plural: 'identityproviders',
  shortNames: ['idp'],
  description: 'IdentityProvider is an OpenID Connect provider whose users log in to tenants.',
  maxNameLength: 63,
  spec: identityProviderSpec,
  status: identityProviderStatus,
  rules: identityProviderRules,
  columns: [ready, reason, { name: 'Issuer', type: 'string', jsonPath: '.status.issuer' }, age, wide(message)],
};

export const kmsConfigKind: Kind<KMSConfigSpec> = {
  kind: 'KMSConfig',
  plural: 'kmsconfigs',
  shortNames: ['kms'],
  description: 'KMSConfig is a key service and the keystore behind it.',
  maxNameLength: 40,
  names: 'services',
  spec: kmsConfigSpec,
  status: kmsConfigStatus,
  rules: kmsConfigRules,
  scales: true,
  columns: [ready, servers, version, age, wide(reason), wide(message)],
};

export const bucketKind: Kind<BucketSpec> = {
  kind: 'Bucket',
  plural: 'buckets',
  shortNames: ['bkt'],
  description: 'Bucket is a bucket of a tenant, with its encryption, its policy and its tags.',
  maxNameLength: 63,
  spec: bucketSpec,
  status: bucketStatus,
  rules: bucketRules,
  columns: [
    ready,
    { name: 'Bucket', type: 'string', jsonPath: '.status.bucketName' },
    tenantOf,
    age,
    wide(reason),
    wide(message),
  ],
};

const policyKind: Kind<PolicySpec> = {
  kind: 'Policy',
  plural: 'policies',
  shortNames: ['iampol'],
  description: 'Policy is an IAM policy of a tenant.',
  maxNameLength: 63,
  spec: policySpec,
  status: policyStatus,
  rules: policyRules,
  columns: [
    ready,
    { name: 'Policy', type: 'string', jsonPath: '.status.policyName' },
    tenantOf,
    age,
    wide(reason),
    wide(message),
  ],
};

const policyBindingKind: Kind<PolicyBindingSpec> = {
  kind: 'PolicyBinding',
  plural: 'policybindings',
  shortNames: ['polbind'],
  description: 'PolicyBinding gives policies of a tenant to users, groups, claims and Kubernetes service accounts.',
  maxNameLength: 63,
  spec: policyBindingSpec,
  status: policyBindingStatus,
  rules: policyBindingRules,
  columns: [
    ready,
    { name: 'Policies', type: 'string', jsonPath: '.spec.policies' },
    tenantOf,
    age,
    wide(reason),
    wide(message),
  ],
};

const userKind: Kind<UserSpec> = {
  kind: 'User',
  plural: 'users',
  shortNames: ['cuser'],
  description: 'User is a user of a tenant, with keys in a Secret.',
  maxNameLength: 63,
  spec: userSpec,
  status: credentialsStatus,
  rules: userRules,
  columns: [ready, accessKey, secret, tenantOf, age, wide(reason), wide(message)],
};

const accessKeyKind: Kind<AccessKeySpec> = {
  kind: 'AccessKey',
  plural: 'accesskeys',
  shortNames: ['akey'],
  description: 'AccessKey is an access key for a program, in a Secret, narrowed by a policy of its own.',
  maxNameLength: 63,
  spec: accessKeySpec,
  status: credentialsStatus,
  rules: accessKeyRules,
  columns: [ready, accessKey, secret, tenantOf, age, wide(reason), wide(message)],
};

/** Calls `visit` with each kind of resource, in the order of the documentation. */
export function eachKind<T>(visit: <Spec>(kind: Kind<Spec>) => T): readonly T[] {
  return [
    visit(tenantKind),
    visit(identityProviderKind),
    visit(kmsConfigKind),
    visit(bucketKind),
    visit(policyKind),
    visit(policyBindingKind),
    visit(userKind),
    visit(accessKeyKind),
  ];
}

/** Returns the pattern of `metadata.name`: a label, since it becomes part of service names and setting names. The API server itself allows dots. */
export function namePattern({ names }: Pick<Kind<unknown>, 'names'>): string {
  return names === 'services' ? '^[a-z]([-a-z0-9]*[a-z0-9])?$' : '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
}
