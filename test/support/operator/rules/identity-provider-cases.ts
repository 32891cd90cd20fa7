import type { RuleCases, Spec } from './rule-case.ts';

const provider: Spec = {
  configUrl: 'https://id.example.com/realms/a/.well-known/openid-configuration',
  clientId: 'coffer',
  clientSecretRef: { name: 'primary-iam-client', key: 'client-secret' },
};
const caFromConfigMap: Spec = { caBundleFrom: { configMapKeyRef: { name: 'corporate-ca', key: 'ca.crt' } } };
const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

export const identityProviderCases: RuleCases = {
  kind: 'IdentityProvider',
  plural: 'identityproviders',
  good: [
    { title: 'the least', spec: provider },
    {
      title: 'every field',
      spec: {
        ...provider,
        enabled: false,
        comment: 'of the staff',
        claimPrefix: 'coffer_',
        displayName: 'Staff',
        scopes: ['openid', 'email'],
        claimName: 'groups',
        claimUserinfo: true,
        redirectUri: 'https://console.example.com/oauth_callback',
        vendor: 'keycloak',
        adminUrl: 'https://id.example.com/admin',
        realm: 'a',
        caBundle: pem,
      },
    },
    { title: 'a CA bundle from a ConfigMap', spec: { ...provider, ...caFromConfigMap } },
    { title: 'role policies', spec: { ...provider, rolePolicy: ['readonly'] } },
    { title: 'a dynamic redirect address', spec: { ...provider, redirectUriDynamic: true } },
    { title: 'an empty list of scopes', spec: { ...provider, scopes: [] } },
  ],
  bad: [
    {
      title: 'a configUrl without its well-known end',
      spec: { ...provider, configUrl: 'https://id.example.com/realms/a' },
      message: 'configUrl must begin with https://',
    },
    {
      title: 'a configUrl of another scheme',
      spec: { ...provider, configUrl: 'ftp://id.example.com/.well-known/openid-configuration' },
      message: 'configUrl must begin with https://',
    },
    {
      title: 'role policies beside a claim',
      spec: { ...provider, rolePolicy: ['readonly'], claimName: 'groups' },
      message: 'rolePolicy and a claimName of your own exclude each other',
    },
    {
      title: 'scopes without openid',
      spec: { ...provider, scopes: ['email'] },
      message: 'scopes must contain openid',
    },
    {
      title: 'a vendor without adminUrl',
      spec: { ...provider, vendor: 'keycloak' },
      message: 'vendor and adminUrl belong together',
    },
    {
      title: 'a realm without vendor',
      spec: { ...provider, realm: 'staff' },
      message: 'realm has no effect without vendor',
    },
    {
      title: 'an adminUrl without vendor',
      spec: { ...provider, adminUrl: 'https://id.example.com/admin' },
      message: 'vendor and adminUrl belong together',
    },
    {
      title: 'an adminUrl that does not end in /admin',
      spec: { ...provider, vendor: 'keycloak', adminUrl: 'https://id.example.com/' },
      message: 'adminUrl must begin with https://',
    },
    {
      title: 'a redirectUri that does not end in /oauth_callback',
      spec: { ...provider, redirectUri: 'https://console.example.com/' },
      message: 'redirectUri must begin with https://',
    },
    {
      title: 'a fixed and a dynamic redirect address',
      spec: { ...provider, redirectUri: 'https://console.example.com/oauth_callback', redirectUriDynamic: true },
      message: 'redirectUri and redirectUriDynamic exclude each other',
    },
    {
      title: 'a CA bundle that is no PEM',
      spec: { ...provider, caBundle: 'MIIB' },
      message: 'caBundle must hold PEM certificates',
    },
    {
      title: 'a CA bundle written twice',
      spec: { ...provider, ...caFromConfigMap, caBundle: pem },
      message: 'caBundle and caBundleFrom exclude each other',
    },
    {
      title: 'a CA bundle from nowhere',
      spec: { ...provider, caBundleFrom: {} },
      message: 'caBundleFrom needs exactly one of configMapKeyRef, secretKeyRef',
    },
  ],
  badChanges: [],
};
