import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { parseConfig } from '../../keysvc/config/config-file.ts';
import { keystores } from '../support/operator/rules/kms-config-cases.ts';
import { context, kms } from '../support/operator/render-cases.ts';
import { renderKeystore } from '../../operator/render/render-keystore.ts';
import { resolveContent, type Symbols } from '../../operator/contract/resolve.ts';
import type { Workload } from '../../operator/contract/workload.ts';

const rendering = context();
const symbols = {
  mountPath: (mount: string) => `/mnt/${mount}`,
  secret: (name: string, key: string) => rendering.secrets.get(name)?.data[key] ?? '',
} as Partial<Symbols> as Symbols;

/** What the key service makes of what the operator writes for a keystore of a KMSConfig. */
async function settingsOf(keystore: object): Promise<unknown> {
  const { document } = renderKeystore(kms({ keystore }), 'keystore', rendering);
  const text = await resolveContent({ kind: 'yaml', document: { keystore: document } }, {} as Workload, symbols);
  const rest = { root: 'disabled', tls: { key: 'k.pem', cert: 'c.pem' } };
  return parseConfig(stringify({ ...rest, ...(parse(text) as object) }), {}).keyStore;
}

describe('the key service takes every keystore that the operator renders', () => {
  const azure = { kind: 'azure', endpoint: 'https://keys.vault.azure.net' };
  const tenantId = '00000000-0000-0000-0000-000000000001';
  const clientId = '00000000-0000-0000-0000-000000000002';
  const vault = { kind: 'vault', endpoint: 'https://vault.example.com:8200', tls: {} };
  const gcp = { kind: 'gcp', projectId: 'coffer', scopes: ['https://www.googleapis.com/auth/cloud-platform'] };
  const expected: Readonly<Record<string, unknown>> = {
    files: { kind: 'files', path: '/mnt/keys' },
    'azure-client-secret': {
      ...azure,
      login: { kind: 'client-secret', tenantId, clientId, clientSecret: 'azure-secret-value' },
    },
    'azure-private-cloud': {
      ...azure,
      authority: 'https://login.example.com',
      audience: 'https://vault.example.com',
      caFile: '/mnt/keystore/ca.crt',
      login: { kind: 'client-secret', tenantId, clientId, clientSecret: 'azure-secret-value' },
    },
    'azure-managed-identity': { ...azure, login: { kind: 'managed-identity' } },
    'azure-workload-identity': { ...azure, login: { kind: 'workload-identity', tenantId, clientId } },
    'vault-approle': {
      ...vault,
      engine: 'secret',
      version: 'v2',
      namespace: 'team',
      prefix: 'coffer',
      login: {
        kind: 'approle',
        engine: 'approle',
        roleId: 'vault-role-id-value',
        secretId: 'vault-secret-id-value',
      },
    },
    'vault-kubernetes': {
      ...vault,
      engine: 'kv',
      version: 'v1',
      prefix: '',
      login: {
        kind: 'kubernetes',
        engine: 'kubernetes',
        role: 'coffer',
        jwt: '/var/run/secrets/kubernetes.io/serviceaccount/token',
      },
    },
    'vault-private-authority': {
      ...vault,
      tls: { caFile: '/mnt/keystore/ca.crt' },
      engine: 'kv',
      version: 'v1',
      prefix: '',
      login: {
        kind: 'kubernetes',
        engine: 'kubernetes',
        role: 'coffer',
        jwt: '/var/run/secrets/kubernetes.io/serviceaccount/token',
      },
    },
    'aws-credentials': {
      kind: 'aws',
      endpoint: 'https://secretsmanager.eu-west-1.amazonaws.com',
      region: 'eu-west-1',
      kmsKey: 'alias/coffer',
      credentials: { accessKey: 'aws-access-key-value', secretKey: 'aws-secret-key-value' },
    },
    'aws-identity': { kind: 'aws', endpoint: 'https://secrets.example.com', region: 'eu-west-1' },
    // Its key file is found by GOOGLE_APPLICATION_CREDENTIALS.
    'gcp-credentials': { ...gcp, endpoint: 'https://secretmanager.googleapis.com' },
    'gcp-identity': { ...gcp, endpoint: 'https://secretmanager.example.com' },
  };
  const cases = { files: { files: {} }, ...keystores };

  it.each(Object.entries(cases))('%s', async (title, keystore) => {
    expect(await settingsOf(keystore)).toEqual(expected[title]);
  });
});
