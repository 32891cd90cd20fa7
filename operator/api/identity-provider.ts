import { z } from 'zod';
import { caBundleFrom, isOneBundle, objectName, secretKeyRef, url } from './fields.ts';
import type { Rules } from './rule.ts';

const scope = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[!#-+\--[\]-~]+$/);

const policyName = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[^,\s]+$/);

/** An OpenID Connect provider, used by any number of tenants. Its name, `primary-iam`, becomes the suffix `_PRIMARY_IAM`. */
export const identityProviderSpec = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether users may log in by this provider.'),
  configUrl: url('Address of the discovery document, ending in /.well-known/openid-configuration.'),
  clientId: z.string().min(1).max(255).describe('Client made at the provider for this service.'),
  clientSecretRef: secretKeyRef.describe('Secret of that client.'),
  cliClientId: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe('Public client made at the provider for `coffer login`, whose tokens are accepted too.'),
  displayName: z.string().max(128).optional().describe("Label of the console's sign-in button."),
  scopes: z
    .array(scope)
    .max(64)
    .optional()
    .describe('Scopes asked for; without it `openid` and what the claims of this provider need.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  claimName: z.string().min(1).max(128).default('policy').describe('Claim whose values name policies.'),
  claimPrefix: z
    .string()
    .max(128)
    .optional()
    .describe('Put before claimName. Deprecated: write the whole name as claimName.'),
  claimUserinfo: z.boolean().default(false).describe('Whether claims of the userinfo endpoint are added.'),
  rolePolicy: z
    .array(policyName)
    .max(64)
    .optional()
    .describe('Policies of everyone who logs in by this provider; then the claim is not used.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  redirectUri: url('Fixed redirect address, ending in /oauth_callback.').optional(),
  redirectUriDynamic: z
    .boolean()
    .default(false)
    .describe('Uses the address that the browser used for the redirect address.'),
  vendor: z.enum(['keycloak']).optional().describe('Turns the check of users at the admin interface on.'),
  adminUrl: url('Admin interface of the provider, for Keycloak ending in /admin.').optional(),
  realm: z.string().min(1).max(255).optional().describe('Realm at the provider; master without it.'),
  caBundle: z
    .string()
    .min(1)
    .max(65536)
    .optional()
    .describe('CA certificates (PEM) trusted for this provider besides those of the system.'),
  caBundleFrom: caBundleFrom.optional().describe('As caBundle, from a ConfigMap or a Secret.'),
  comment: z.string().max(1024).optional().describe('For people; not used.'),
});
export type IdentityProviderSpec = z.output<typeof identityProviderSpec>;

const web = (address: string) => address.startsWith('http://') || address.startsWith('https://');
const celWeb = (field: string) => `(self.${field}.startsWith('http://') || self.${field}.startsWith('https://'))`;

export const identityProviderRules: Rules<IdentityProviderSpec> = {
  always: [
    {
      field: 'spec.configUrl',
      message: 'configUrl must begin with https:// (or http://) and end in /.well-known/openid-configuration',
      cel: `${celWeb('configUrl')} && self.configUrl.endsWith('/.well-known/openid-configuration')`,
      holds: ({ configUrl }) => web(configUrl) && configUrl.endsWith('/.well-known/openid-configuration'),
    },
    {
      field: 'spec.rolePolicy',
      message:
        'rolePolicy and a claimName of your own exclude each other: everyone has the role policies, or the claim decides',
      cel: "!has(self.rolePolicy) || self.rolePolicy.size() == 0 || (self.claimName == 'policy' && !has(self.claimPrefix))",
      holds: ({ rolePolicy, claimName, claimPrefix }) =>
        rolePolicy === undefined || rolePolicy.length === 0 || (claimName === 'policy' && claimPrefix === undefined),
    },
    {
      field: 'spec.scopes',
      message: 'scopes must contain openid, without which a provider issues no identity token',
      cel: "!has(self.scopes) || self.scopes.size() == 0 || 'openid' in self.scopes",
      holds: ({ scopes }) => scopes === undefined || scopes.length === 0 || scopes.includes('openid'),
    },
    {
      field: 'spec.realm',
      message: 'realm has no effect without vendor: the check of users alone needs it',
      cel: "!has(self.realm) || self.realm == 'master' || has(self.vendor)",
      holds: ({ realm, vendor }) => realm === undefined || realm === 'master' || vendor !== undefined,
    },
    {
      field: 'spec.adminUrl',
      message: 'vendor and adminUrl belong together: the check of users needs both',
      cel: 'has(self.vendor) == has(self.adminUrl)',
      holds: ({ vendor, adminUrl }) => (vendor === undefined) === (adminUrl === undefined),
    },
    {
      field: 'spec.adminUrl',
      message: 'adminUrl must begin with https:// (or http://) and end in /admin',
      cel: `!has(self.adminUrl) || (${celWeb('adminUrl')} && self.adminUrl.endsWith('/admin'))`,
      holds: ({ adminUrl }) => adminUrl === undefined || (web(adminUrl) && adminUrl.endsWith('/admin')),
    },
    {
      field: 'spec.redirectUri',
      message: 'redirectUri must begin with https:// (or http://) and end in /oauth_callback',
      cel: `!has(self.redirectUri) || (${celWeb('redirectUri')} && self.redirectUri.endsWith('/oauth_callback'))`,
      holds: ({ redirectUri }) =>
        redirectUri === undefined || (web(redirectUri) && redirectUri.endsWith('/oauth_callback')),
    },
    {
      field: 'spec.redirectUriDynamic',
      message:
        'redirectUri and redirectUriDynamic exclude each other: the redirect address is fixed, or follows the browser',
      cel: '!has(self.redirectUri) || !self.redirectUriDynamic',
      holds: ({ redirectUri, redirectUriDynamic }) => redirectUri === undefined || !redirectUriDynamic,
    },
    {
      field: 'spec.caBundle',
      message: 'caBundle must hold PEM certificates (-----BEGIN CERTIFICATE-----)',
      cel: "!has(self.caBundle) || self.caBundle.contains('-----BEGIN CERTIFICATE-----')",
      holds: ({ caBundle }) => caBundle === undefined || caBundle.includes('-----BEGIN CERTIFICATE-----'),
    },
    {
      field: 'spec.caBundleFrom',
      message: 'caBundle and caBundleFrom exclude each other',
      cel: '!has(self.caBundle) || !has(self.caBundleFrom)',
      holds: ({ caBundle, caBundleFrom }) => caBundle === undefined || caBundleFrom === undefined,
    },
    {
      field: 'spec.caBundleFrom',
      message: 'caBundleFrom needs exactly one of configMapKeyRef, secretKeyRef',
      cel: '!has(self.caBundleFrom) || has(self.caBundleFrom.configMapKeyRef) != has(self.caBundleFrom.secretKeyRef)',
      holds: ({ caBundleFrom: from }) => isOneBundle(from),
    },
  ],
  onChange: [],
};

/** `primary-iam` as the `<ID>` of `SVC_IDENTITY_OPENID_*_<ID>`: `PRIMARY_IAM`. */
export function providerId(name: string): string {
  return objectName.parse(name).toUpperCase().replaceAll('-', '_');
}
