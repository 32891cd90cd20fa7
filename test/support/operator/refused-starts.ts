import type { Secret } from '../../../operator/contract/secret.ts';
import { issueCertificate } from '../../../platform/tls/issue-certificate.ts';
import { ownPair } from './render-cases.ts';
import type { Spec } from './rules/rule-case.ts';

/** A Tenant that passes its schema, whose server would end at its start. */
export interface RefusedStart {
  readonly title: string;
  readonly spec?: Spec;
  readonly secrets?: Readonly<Record<string, Secret['data']>>;
  /** What the operator says of it. */
  readonly message: RegExp;
}

const other = await issueCertificate({ commonName: 'other', validForMs: 3_600_000 });
const tls = { tls: { secretName: 'tls' } };
const pair = (cert: string, key: string) => ({ tls: { 'tls.crt': cert, 'tls.key': key } });
const root = (data: Secret['data']) => ({
  'demo-root-credentials': { rootUser: 'admin', rootPassword: 'root-password-value', ...data },
});
const setting = (name: string, value: string): Spec => ({ settings: [{ name, value }] });
const secretSetting = (name: string, value: string) => ({
  spec: { settings: [{ name, valueFrom: { secretKeyRef: { name: 'given', key: 'value' } } }] },
  secrets: { given: { value } },
});
const database = (url: string) => ({
  spec: { storage: { size: '1Gi', records: { postgres: { urlSecretRef: { name: 'postgres', key: 'url' } } } } },
  secrets: { postgres: { url } },
});

/**
 * What ends the start of a server: each value of a Secret that a Tenant names, and what its settings say together. The operator refuses each before
 * a pod is touched, and a real server ends with it.
 */
export const refusedStarts: readonly RefusedStart[] = [
  {
    title: 'a certificate that is not that of the key',
    spec: tls,
    secrets: pair(ownPair.certPem, other.keyPem),
    message: /tls\.key of the Secret tls is not that of the certificate/,
  },
  {
    title: 'a certificate that is not PEM',
    spec: tls,
    secrets: pair('MIIB', ownPair.keyPem),
    message: /tls\.crt of the Secret tls is not a PEM certificate/,
  },
  {
    title: 'a key that is not PEM',
    spec: tls,
    secrets: pair(ownPair.certPem, 'c2VjcmV0'),
    message: /tls\.key of the Secret tls is not an unencrypted PEM private key/,
  },
  {
    title: 'a chain in the wrong order',
    spec: tls,
    secrets: pair(`${other.certPem}\n${ownPair.certPem}`, ownPair.keyPem),
    message: /wrong order/,
  },
  {
    title: 'a root password of three characters',
    secrets: root({ rootPassword: 'abc' }),
    message: /rootPassword of the Secret demo-root-credentials \(SVC_ROOT_PASSWORD_FILE\)/,
  },
  {
    title: 'a root user of two characters',
    secrets: root({ rootUser: 'ab' }),
    message: /rootUser of the Secret demo-root-credentials/,
  },
  {
    title: 'a root password that ends with a blank',
    secrets: root({ rootPassword: 'root-password ' }),
    message: /blank/,
  },
  {
    title: 'an address of a database that is none',
    ...database('mysql://coffer@db/coffer'),
    message: /SVC_STORE_RECORDS/,
  },
  {
    title: 'an address of a database with an sslmode that encrypts perhaps',
    ...database('postgres://coffer@db/coffer?sslmode=prefer'),
    message: /sslmode=prefer/,
  },
  {
    title: 'an address of a database without a user',
    ...database('postgres://db/coffer'),
    message: /SVC_STORE_RECORDS/,
  },
  {
    title: 'a secret key of the server itself that is none',
    ...secretSetting('SVC_KMS_SECRET_KEY', 'name:short'),
    message: /SVC_KMS_SECRET_KEY/,
  },
  {
    title: 'encryption by default without a key service',
    spec: setting('SVC_KMS_AUTO_ENCRYPTION', 'on'),
    message: /SVC_KMS_AUTO_ENCRYPTION is on/,
  },
  {
    title: 'an origin that is none',
    spec: setting('SVC_API_CORS_ALLOW_ORIGIN', 'app.example.com'),
    message: /is no origin/,
  },
  {
    title: 'a range of proxies that is none',
    spec: setting('SVC_TRUSTED_PROXIES', '10.0.0.0/99'),
    message: /SVC_TRUSTED_PROXIES/,
  },
  {
    title: 'authorities of a database beside sslmode=disable',
    spec: {
      storage: {
        size: '1Gi',
        records: {
          postgres: {
            urlSecretRef: { name: 'postgres', key: 'url' },
            caBundleFrom: { configMapKeyRef: { name: 'corporate-ca', key: 'ca.crt' } },
          },
        },
      },
    },
    secrets: { postgres: { url: 'postgres://coffer@db/coffer?sslmode=disable' } },
    message: /SVC_STORE_RECORDS_CA_FILE is set/,
  },
  {
    title: 'a bucket of another S3 that is none',
    spec: {
      storage: {
        size: '1Gi',
        blobs: { s3: { endpoint: 'https://h.example', bucket: 'Capital', credentialsSecret: { name: 's3' } } },
      },
    },
    message: /SVC_STORE_BLOBS/,
  },
  {
    title: 'a token of a target that ends with a blank',
    spec: {
      notificationTargets: [
        { id: 'T', webhook: { endpoint: 'https://h.example' }, credentialsSecret: { name: 'token' } },
      ],
    },
    secrets: { token: { authToken: 'a-token ' } },
    message: /authToken of the Secret token begins or ends with a blank/,
  },
  {
    title: 'an address of websites that is none',
    spec: setting('SVC_WEBSITE_ADDRESS', 'https://h.example/'),
    message: /SVC_WEBSITE_ADDRESS: .* is no address/,
  },
  { title: 'a domain that is none', spec: setting('SVC_DOMAIN', 'a b'), message: /is no host name/ },
  {
    title: 'a directory without its address',
    spec: setting('SVC_IDENTITY_LDAP_LOOKUP_BIND_DN', 'cn=x'),
    message: /has no effect without SVC_IDENTITY_LDAP_SERVER_ADDR/,
  },
];

/** A KMSConfig that passes its schema, whose key service would end at its start. */
export interface RefusedKeyService {
  readonly title: string;
  readonly spec: Spec;
  readonly secrets?: Readonly<Record<string, Secret['data']>>;
  readonly message: RegExp;
}

const identity = 'a'.repeat(64);
const aws = { region: 'eu-west-1', credentialsSecret: { name: 'aws' } };
const vault = { endpoint: 'https://vault.example', kubernetes: { role: 'coffer' } };

/** What ends the start of a key service: each of its fields that has a form, and the value of each Secret that it reads at its start. */
export const refusedKeyServices: readonly RefusedKeyService[] = [
  {
    title: 'one identity in two policies',
    spec: {
      policies: ['p', 'q'].map((name) => ({ name, allow: ['/v1/status'], identities: [identity] })),
    },
    message: /is in two policies/,
  },
  {
    title: 'a line under deny that denies nothing',
    spec: { policies: [{ name: 'p', allow: ['/v1/*'], deny: ['/v1/key/create/[z-a]'], identities: [identity] }] },
    message: /would deny nothing/,
  },
  {
    title: 'a time of the cache that no number holds',
    spec: { cache: { any: `${'9'.repeat(20)}d` } },
    message: /is no duration/,
  },
  {
    title: 'an address of AWS that is none',
    spec: { keystore: { aws: { ...aws, endpoint: 'a b' } } },
    message: /keystore\.aws\.secretsmanager\.endpoint/,
  },
  {
    title: 'an address of Google that is none',
    spec: { keystore: { gcp: { projectId: 'p', endpoint: 'http://h.example' } } },
    message: /keystore\.gcp\.secretmanager\.endpoint/,
  },
  {
    title: 'an address of a vault with a password',
    spec: { keystore: { vault: { ...vault, endpoint: 'https://u:p@vault.example' } } },
    message: /no password/,
  },
  {
    title: 'authorities of a vault that are no certificate',
    spec: { keystore: { vault: { ...vault, caBundleFrom: { secretKeyRef: { name: 'authorities', key: 'ca.crt' } } } } },
    secrets: { authorities: { 'ca.crt': 'MIIB' } },
    message: /KMSConfig keys would not start: caBundleFrom of its keystore holds no PEM certificate/,
  },
  {
    title: 'authorities of an Azure Key Vault that are no certificate',
    spec: {
      keystore: {
        azure: {
          endpoint: 'https://v.vault.azure.net',
          managedIdentity: {},
          caBundleFrom: { secretKeyRef: { name: 'authorities', key: 'ca.crt' } },
        },
      },
    },
    secrets: { authorities: { 'ca.crt': 'MIIB' } },
    message: /holds no PEM certificate/,
  },
  {
    title: 'an address of an Azure Key Vault with a query',
    spec: { keystore: { azure: { endpoint: 'https://v.vault.azure.net/?a=b', managedIdentity: {} } } },
    message: /no query/,
  },
  {
    title: 'a variable of the environment in a prefix',
    spec: { keystore: { vault: { ...vault, prefix: '${NOT_SET}' } } },
    message: /NOT_SET, which is not set/,
  },
];
