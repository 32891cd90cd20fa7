import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { toKeyStoreSettings } from './to-keystore-settings.ts';

const settings = (text: string) => toKeyStoreSettings(parse(text) as Record<string, unknown>);

const awsWith = (credentials: string) => `
aws:
  secretsmanager:
    endpoint: secretsmanager.us-east-2.amazonaws.com
    region: us-east-2
    kmskey: ""
    credentials: ${credentials}
`;

const azure = (rest: string) => `azure: { keyvault: { endpoint: "https://keys.vault.azure.net", ${rest} } }`;

describe('keystore, as configurations of the protocol write it,', () => {
  it('is taken for Azure', () => {
    const written = `
azure:
  keyvault:
    endpoint: "https://keys.vault.azure.net/"
    credentials: { tenant_id: t, client_id: c, client_secret: s }
`;
    expect(settings(written)).toEqual({
      kind: 'azure',
      endpoint: 'https://keys.vault.azure.net',
      login: { kind: 'client-secret', tenantId: 't', clientId: 'c', clientSecret: 's' },
    });
  });

  it('is taken for Vault, with what has no effect here', () => {
    const written = `
vault:
  endpoint: http://vault.default.svc.cluster.local:8200
  engine: "/kv/"
  prefix: "/my-minio/"
  namespace: ""
  approle: { engine: approle, id: r, secret: s, retry: 15s }
  tls: { key: k.pem, cert: c.pem, ca: ca.pem }
  status: { ping: 10s }
`;
    expect(settings(written)).toEqual({
      kind: 'vault',
      endpoint: 'http://vault.default.svc.cluster.local:8200',
      engine: 'kv',
      version: 'v1',
      prefix: 'my-minio',
      login: { kind: 'approle', engine: 'approle', roleId: 'r', secretId: 's' },
      tls: { caFile: 'ca.pem', certFile: 'c.pem', keyFile: 'k.pem' },
    });
  });

  it('is taken for Vault by one login beside the place of a token that none uses', () => {
    const kubernetes = 'kubernetes: { role: "", jwt: /var/run/secrets/kubernetes.io/serviceaccount/token, retry: 15s }';
    expect(settings(`vault: { endpoint: "https://v", approle: { id: r, secret: s }, ${kubernetes} }`)).toMatchObject({
      login: { kind: 'approle' },
    });
  });

  it('is taken for AWS, with credentials or empty ones', () => {
    const rest = { kind: 'aws', endpoint: 'https://secretsmanager.us-east-2.amazonaws.com', region: 'us-east-2' };
    expect(settings(awsWith('{ accesskey: a, secretkey: s, token: t }'))).toEqual({
      ...rest,
      credentials: { accessKey: 'a', secretKey: 's', sessionToken: 't' },
    });
    expect(settings(awsWith('{ accesskey: "", secretkey: "", token: "" }'))).toEqual(rest);
  });

  it('is taken for AWS by its region alone', () => {
    expect(settings('aws: { secretsmanager: { region: cn-north-1 } }')).toEqual({ kind: 'aws', region: 'cn-north-1' });
  });

  it('is taken for Google Cloud, with a private key on one line', () => {
    const written = String.raw`
gcp:
  secretmanager:
    project_id: p
    endpoint: "secretmanager.googleapis.com:443"
    credentials: { client_email: e, client_id: i, private_key_id: k, private_key: 'one\ntwo' }
`;
    expect(settings(written)).toEqual({
      kind: 'gcp',
      endpoint: 'https://secretmanager.googleapis.com:443',
      projectId: 'p',
      scopes: ['https://www.googleapis.com/auth/cloud-platform'],
      credentials: { clientEmail: 'e', privateKeyId: 'k', privateKey: 'one\ntwo' },
    });
  });

  it('is taken for another key service', () => {
    const written =
      'kes: { endpoint: ["https://kes:7373"], enclave: team, tls: { cert: c.pem, key: k.pem, ca: ca.pem } }';
    expect(settings(written)).toEqual({
      kind: 'kes',
      endpoints: ['https://kes:7373'],
      enclave: 'team',
      certFile: 'c.pem',
      keyFile: 'k.pem',
      caFile: 'ca.pem',
    });
  });
});

describe('keystore is refused', () => {
  const approle = 'approle: { id: r, secret: s }';
  it.each([
    [
      'without an address',
      'azure: { keyvault: { managed_identity: {} } }',
      /keystore\.azure\.keyvault\.endpoint: is missing/,
    ],
    ['without a login', azure(''), /exactly one of credentials, managed_identity, workload_identity/],
    ['with two logins', azure('managed_identity: {}, workload_identity: {}'), /in two ways/],
    [
      'with a setting it does not know',
      azure('managed_identity: {}, vault: x'),
      /keyvault has unknown settings: vault/,
    ],
    [
      'with a vault without TLS',
      'azure: { keyvault: { endpoint: "http://keys.vault.azure.net", managed_identity: {} } }',
      /no address that begins with https:\/\//,
    ],
    [
      'without a secret ID',
      'vault: { endpoint: "https://v", approle: { id: r } }',
      /keystore\.vault\.approle\.secret: is missing/,
    ],
    [
      'without the role of Kubernetes',
      'vault: { endpoint: "https://v", kubernetes: { jwt: a.b.c } }',
      /keystore\.vault\.kubernetes\.role: is missing/,
    ],
    ['with another engine', `vault: { endpoint: "https://v", version: v3, ${approle} }`, /keystore\.vault\.version/],
    [
      'with half a certificate',
      `vault: { endpoint: "https://v", tls: { cert: c }, ${approle} }`,
      /cert and key belong together/,
    ],
    ['with no duration', `vault: { endpoint: "https://v", status: { ping: soon }, ${approle} }`, /is no duration/],
    ['without a region', 'aws: { secretsmanager: {} }', /keystore\.aws\.secretsmanager\.region: is missing/],
    ['with a region that is none', 'aws: { secretsmanager: { region: "eu west" } }', /"eu west" is no region/],
    ['with half a key', 'aws: { secretsmanager: { region: r, credentials: { accesskey: a } } }', /belong together/],
    ['without a project', 'gcp: { secretmanager: {} }', /project_id: is missing/],
    ['without certificates', 'kes: { endpoint: "https://k", tls: {} }', /keystore\.kes\.tls\.cert: is missing/],
  ])('%s', (_, text, message) => {
    expect(() => settings(text)).toThrow(message);
  });

  it.each([
    'vault: { endpoint: "https://user:hunter2@v", approle: { id: r, secret: s } }',
    'vault: { endpoint: "ftp://user:hunter2@v", approle: { id: r, secret: s } }',
    'vault: { endpoint: "https://v", approle: { id: [hunter2], secret: s } }',
    'azure: { keyvault: { endpoint: "https://keys.vault.azure.net", credentials: { tenant_id: t, client_id: c, client_secret: [hunter2] } } }',
    'gcp: { secretmanager: { project_id: p, credentials: { private_key: hunter2 } } }',
  ])('without quoting a secret: %s', (text) => {
    expect(() => settings(text)).toThrow(/keystore\./);
    expect(() => settings(text)).not.toThrow(/hunter2/);
  });
});
