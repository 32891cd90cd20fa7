import type { z } from 'zod';
import { identityProviderRules, identityProviderSpec, type IdentityProviderSpec } from './identity-provider.ts';
import { kmsConfigRules, kmsConfigSpec, type KMSConfigSpec } from './kms-config.ts';
import type { Rules } from './rule.ts';
import { tenantRules, tenantSpec, type TenantSpec } from './tenant.ts';

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  /** 1: shown by `-o wide` only. */
  readonly priority?: 1;
}

/** All that a kind is: its names, its schema, its rules, what `kubectl get` shows. */
export interface Kind<Spec> {
  readonly kind: 'Tenant' | 'IdentityProvider' | 'KMSConfig';
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly spec: z.ZodType<Spec>;
  readonly rules: Rules<Spec>;
  readonly columns: readonly PrinterColumn[];
}

const condition = (type: string, part: 'status' | 'reason' | 'message') =>
  `.status.conditions[?(@.type=="${type}")].${part}`;

const ready: PrinterColumn = { name: 'Ready', type: 'string', jsonPath: condition('Ready', 'status') };
const reason: PrinterColumn = { name: 'Reason', type: 'string', jsonPath: condition('Ready', 'reason') };
const message: PrinterColumn = {
  name: 'Message',
  type: 'string',
  jsonPath: condition('Ready', 'message'),
  priority: 1,
};
const age: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

export const tenantKind: Kind<TenantSpec> = {
  kind: 'Tenant',
  plural: 'tenants',
  shortNames: ['ten'],
  description: 'Tenant is a storage server with its console, its identity providers and its encryption.',
  spec: tenantSpec,
  rules: tenantRules,
  columns: [
    ready,
    reason,
    { name: 'Servers', type: 'string', jsonPath: '.status.servers' },
    { name: 'Identity', type: 'string', jsonPath: condition('IdentityReady', 'status') },
    { name: 'Encryption', type: 'string', jsonPath: condition('KMSReady', 'status') },
    { name: 'Version', type: 'string', jsonPath: '.status.version' },
    message,
    age,
  ],
};

export const identityProviderKind: Kind<IdentityProviderSpec> = {
  kind: 'IdentityProvider',
  plural: 'identityproviders',
  shortNames: ['idp'],
  description: 'IdentityProvider is an OpenID Connect provider whose users log in to tenants.',
  spec: identityProviderSpec,
  rules: identityProviderRules,
  columns: [ready, reason, { name: 'Issuer', type: 'string', jsonPath: '.status.issuer' }, message, age],
};

export const kmsConfigKind: Kind<KMSConfigSpec> = {
  kind: 'KMSConfig',
  plural: 'kmsconfigs',
  shortNames: ['kms'],
  description: 'KMSConfig is a key service and the keystore behind it.',
  spec: kmsConfigSpec,
  rules: kmsConfigRules,
  columns: [
    ready,
    reason,
    { name: 'Servers', type: 'string', jsonPath: '.status.servers' },
    { name: 'Version', type: 'string', jsonPath: '.status.version' },
    message,
    age,
  ],
};
