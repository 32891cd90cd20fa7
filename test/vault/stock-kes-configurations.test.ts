import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../keysvc/config/config-file.ts';
import { startKeyService } from '../../keysvc/http/start.ts';
import { createLogger } from '../../platform/output/logger.ts';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { allowsPath } from '../../protocol/key-service/policy.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { freePort } from '../support/process/free-port.ts';
import { issue, writePair } from '../support/server/keysvc-process.ts';
import { askBy, startKes } from './start-kes.ts';

// Configurations, each given to stock KES and to the key service: where KES starts, the key service starts too.

let folder: string;
let ca: CertificateAndKey;
let serverFiles: { readonly certFile: string; readonly keyFile: string };
const [hashA, hashB] = ['a'.repeat(64), 'b'.repeat(64)];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-stock-configurations-'));
  ca = await makeCa({ commonName: 'test', validForMs: 3_600_000 });
  await writeFile(join(folder, 'ca.crt'), ca.certPem);
  serverFiles = await writePair(folder, 'server', await issue(ca, 'server'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const environment = () => ({ ADMIN: hashA, EMPTY: '', TTL: '5m', NAME: 'a-key', FOLDER: join(folder, 'of-variable') });

type Settings = Readonly<Record<string, string | undefined>>;

/** A whole configuration; `settings` replace or remove those of the same name. */
function configurationOf(settings: Settings, port: number): string {
  const { certFile, keyFile } = serverFiles;
  const { tls = '', ...others } = settings;
  const all: Settings = {
    version: 'v1',
    address: `127.0.0.1:${port}`,
    admin: `{ identity: ${hashA} }`,
    tls: `{ key: ${keyFile}, cert: ${certFile}${tls === '' ? '' : `, ${tls}`} }`,
    keystore: `{ fs: { path: ${join(folder, 'keys')} } }`,
    ...others,
  };
  return Object.entries(all)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
    .replaceAll('FOLDER_OF_TEST', folder);
}

async function startsStock(settings: Settings): Promise<string> {
  const port = await freePort();
  const config = join(folder, 'stock.yml');
  await writeFile(config, configurationOf(settings, port));
  try {
    await (await startKes({ config, port, folder, environment: environment() })).stop();
    return 'starts';
  } catch (error) {
    return (error as Error).message;
  }
}

async function startsOwn(settings: Settings): Promise<string> {
  try {
    const config = parseConfig(configurationOf(settings, 0), environment());
    const log = createLogger({ name: 'test', level: 'silent' });
    const own = { ...config, keyStore: { kind: 'files', path: join(folder, 'own-keys') } } as const;
    await (await startKeyService(own, { log, writeAudit: () => undefined })).stop();
    return 'starts';
  } catch (error) {
    return (error as Error).message;
  }
}

/** Forms that administrators have, from public reports and from the sample files. */
const forms: readonly (readonly [name: string, settings: Settings])[] = [
  ['as the others are', {}],
  ['no version', { version: undefined }],
  ['an empty version', { version: '""' }],
  ...['disabled', 'Disabled', 'false', '_', 'hello', '"${ADMIN}"', '"${ ADMIN }"'].map(
    (word) => [`the superuser ${word}`, { admin: `{ identity: ${word} }` }] as const,
  ),
  ['a superuser in capitals', { admin: `{ identity: ${hashA.toUpperCase()} }` }],
  ['a superuser cut short', { admin: `{ identity: ${hashA.slice(1)} }` }],
  ...['on', 'off', '"on"', '""', 'OFF', ''].map((word) => [`tls.auth ${word}`, { tls: `auth: ${word}` }] as const),
  ['empty texts in tls', { tls: 'password: "", ca: ""' }],
  ['an authority', { tls: 'ca: FOLDER_OF_TEST/ca.crt' }],
  ...[
    '',
    '{}',
    '{ identities: }',
    '{ identities: [""] }',
    '{ identities: ["${EMPTY}"] }',
    '{ identities: [nginx] }',
  ].map((proxy) => [`tls.proxy ${proxy}`, { tls: `proxy: ${proxy}` }] as const),
  ['a proxy with an empty header', { tls: `proxy: { identities: [${hashB}], header: { cert: "" } }` }],
  ...[
    '',
    '{}',
    '{ expiry: }',
    ...['5m', '1.5h', '"${TTL}"', '0s', '.5s', '1h30m'].map((any) => `{ expiry: { any: ${any} } }`),
  ].map((cache) => [`cache ${cache}`, { cache }] as const),
  ...['debug', 'INFO', 'Warn', 'ERROR+1', 'on', 'OFF', '""', ''].map(
    (level) => [`log ${level}`, { log: `{ error: ${level}, audit: ${level} }` }] as const,
  ),
  ...['"INFO +1"', '"INFO+-2"', '"+4"', '"-4"', '"9"'].map(
    (level) => [`log ${level}`, { log: `{ error: ${level}, audit: ${level} }` }] as const,
  ),
  ['no logs', { log: '' }],
  ...[
    '/v1/ready: { skip_auth: true, timeout: 15s }',
    '/v1/ready:',
    '/v1/status: { skip_auth: off }',
    '/version: { skip_auth: true }',
    '/v1/metrics: { skip_auth: yes }',
    '/v1/key/create: { timeout: 30s }',
    '/v1/key/create/: { timeout: 30s }',
    '"/v1/key/create/*": { timeout: 30s }',
    '/v1/enclave/create/: { timeout: 30s }',
    '/v1/identity/self/describe: { timeout: 1m }',
    '/v1/log/error: { timeout: 0s }',
    'v1/ready: { timeout: 30s }',
    '/: { timeout: 30s }',
  ].map((path) => [`api ${path}`, { api: `{ ${path} }` }] as const),
  ['no policies', { policy: '' }],
  ...[
    '',
    '{ allow: , deny: , identities: }',
    '{ allow: [v1/status] }',
    '{ allow: ["*"] }',
    '{ allow: [""] }',
    '{ allow: ["/v1/[a"], deny: ["/v2/*"] }',
    '{ identities: [me] }',
    `{ identities: [${hashB.toUpperCase()}] }`,
    `{ identities: [${'1'.repeat(64)}] }`,
  ].map((policy) => [`a policy ${policy}`, { policy: `{ app: ${policy} }` }] as const),
  [
    'a policy that is merged into another',
    { policy: '{ a: &a { allow: [/v1/status] }, b: { <<: *a, deny: [/v1/metrics] } }' },
  ],
  ['a second document', { policy: '\n---\nadress: none' }],
  ['a number as the name of a policy', { policy: '{ 2024: { allow: [/v1/status] } }' }],
  ...['k', '2024', '007', '0x10', '1e3', 'true', 'yes', '2024-01-01', '', '""', '"${NAME}"', '"${EMPTY}"'].map(
    (key) => [`a key ${key}`, { keys: `[{ name: ${key} }]` }] as const,
  ),
  ['a key that is none', { keys: '[~]' }],
  ['no keys', { keys: '' }],
  ...['{ fs: { path: keys } }', '{ fs: { path: "${FOLDER}" } }', '{ fs: { path: 2024 } }'].map(
    (keystore) => [`the keystore ${keystore}`, { keystore }] as const,
  ),
  ['names of other stores', { keystore: '{ fs: { path: keys }, vault: , aws: , gcp: , azure: , entrust: }' }],
  ...[
    'aws: {}',
    'aws: { secretsmanager: }',
    'azure: { keyvault: }',
    'gcp: { secretmanager: }',
    'fortanix: { sdkms: }',
    'gemalto: {}',
    'entrust: { keycontrol: }',
  ].map(
    (store) =>
      [`another store without its section, ${store}`, { keystore: `{ fs: { path: keys }, ${store} }` }] as const,
  ),
];

describe('a configuration with which stock KES starts', () => {
  it.each(forms)('is one with which the key service starts: %s', async (_, settings) => {
    expect([await startsStock(settings), await startsOwn(settings)]).toEqual(['starts', 'starts']);
  });

  // What is refused although KES starts, and why.
  it.each<[string, Settings, RegExp]>([
    // KES then lets everybody make keys, without a certificate.
    ['calls of keys without a certificate', { api: '{ /v1/key/create/: { skip_auth: true } }' }, /always needs a cert/],
    // KES does not say that it ignores them.
    ['a setting that is none', { cache: '{ expire: { any: 5m } }' }, /unknown settings: expire/],
    // KES starts, and the line guards nothing.
    ...['/v1/key/create/[z-a]', 'v1/key/create/*'].map((pattern): [string, Settings, RegExp] => [
      `a line under deny that denies nothing, ${pattern}`,
      { policy: `{ app: { allow: ["/v1/*"], deny: ["${pattern}"] } }` },
      /would deny nothing/,
    ]),
    // No call of KES can name such a key.
    ['a key that has no name', { keys: '[{ name: a.b }]' }, /"a\.b" is no key name/],
  ])('is refused with the reason for %s', async (_, settings, message) => {
    expect([await startsStock(settings), await startsOwn(settings)]).toEqual([
      'starts',
      expect.stringMatching(message),
    ]);
  });
});

/** Sections of stores that cannot be reached here, and what the key service says of those that it does not take. */
const sections: readonly (string | readonly [section: string, refused: RegExp])[] = [
  'vault: { endpoint: "ADDRESS", approle: { id: 1234, secret: 5678 } }',
  'vault: { endpoint: "ADDRESS", engine: "", version: "", namespace: "", prefix: "", approle: { id: r, secret: s, retry: 15s } }',
  'vault: { endpoint: "ADDRESS", engine: kv, version: v2, namespace: n, prefix: p, approle: { id: r, secret: s } }',
  'vault: { endpoint: "ADDRESS", version: v1, approle: { engine: a/b, namespace: /, id: r, secret: s }, kubernetes: }',
  'vault: { endpoint: "ADDRESS", kubernetes: { engine: k, namespace: n, role: r, jwt: a.b.c } }',
  'vault: { endpoint: "ADDRESS", transit: { engine: t, key: k }, approle: { id: r, secret: s } }',
  'vault: { endpoint: "ADDRESS", transit: , tls: { key: "", cert: "", ca: "" }, status: { ping: 10s }, approle: { id: r, secret: s } }',
  'vault: { endpoint: "ADDRESS", approle: { id: "${ NAME }", secret: "${NAME}" } }',
  'aws: { secretsmanager: { endpoint: "HOST", region: us-east-2, kmskey: "", credentials: { accesskey: 12345, secretkey: 6789, token: "" } } }',
  'aws: { secretsmanager: { endpoint: "HOST", region: us-east-2 } }',
  [
    'aws: { secretsmanager: { endpoint: "HOST", region: us-east-2, credentials: { accesskey: a } } }',
    /credentials: accesskey and secretkey belong together/,
  ],
  'gcp: { secretmanager: { project_id: p, endpoint: "", scopes: [""], credentials: { client_email: "", client_id: "", private_key_id: "", private_key: "" } } }',
  'gcp: { secretmanager: { project_id: 2024, scopes: , credentials: } }',
  ...[
    'fortanix: { sdkms: { endpoint: "ADDRESS", group_id: "", credentials: { key: k }, tls: { ca: "" } } }',
    'gemalto: { keysecure: { endpoint: "ADDRESS", credentials: { token: t, domain: "", retry: 15s } } }',
    'entrust: { keycontrol: { endpoint: "ADDRESS", vault_id: v, box_id: b, credentials: { username: u, password: p } } }',
  ].map(
    (section) => [section, /^keystore\.(?:fortanix|gemalto|entrust) is not supported; what is: fs, azure/] as const,
  ),
];

describe('the section of a store that stock KES reads', () => {
  it.each<[string, RegExp | undefined]>(sections.map((one) => (typeof one === 'string' ? [one, undefined] : [...one])))(
    'is honoured, or refused by its name: %s',
    async (section, refused) => {
      // Nothing listens there, so that stock KES ends with what it was told of the connection.
      const host = `127.0.0.1:${await freePort()}`;
      const keystore = `{ ${section.replace('ADDRESS', `http://${host}`).replace('HOST', host)} }`;
      expect(await startsStock({ keystore })).toMatch(/^kes ended: Error: (?!kesconf|yaml)/);
      const own = () => parseConfig(configurationOf({ keystore }, 0), environment());
      if (refused === undefined) expect(own).not.toThrow();
      else expect(own).toThrow(refused);
    },
  );
});

describe('a server certificate without names', () => {
  it('is refused by both', async () => {
    const nameless = await issueCertificate({ commonName: 'keys', issuer: ca, validForMs: 3_600_000 });
    const kept = serverFiles;
    serverFiles = await writePair(folder, 'nameless', nameless);
    try {
      expect(await startsStock({})).toMatch(/does not contain any DNS or IP address as SAN/);
      expect(await startsOwn({})).toMatch(/names no host: no client accepts it/);
    } finally {
      serverFiles = kept;
    }
  });
});

describe('the patterns of policies', () => {
  const patterns = [
    '*',
    '/*',
    '/v1*',
    '/v1/*',
    '/v1/key/*',
    '/v1/key*',
    '/v1/key/create/*',
    '/v1/key/create/',
    '/v1/key/create',
    '/v1/key/create/k*',
    '/v1/key/create/k1',
    '/v1/key/create/k1*',
    '/v1/key/create/k1/',
    '/v1/key/create/K1',
    '/v1/key/list/*',
    '/v1/key/list/k*',
    'v1/key/create/*',
    '//v1/key/create/*',
    '/V1/key/create/*',
    '/v1/key/create/[',
    '/v1/status',
    '/v1/status*',
    '/v1/status/',
    '/v1/metrics',
    '/v1/log/*',
    '/v1/key/bulk/decrypt/*',
    '/v1/api',
    '/v1/ready',
    '/v1/policy/*',
    '/v1/identity/*',
    '/version*',
  ];
  const calls = [
    ['PUT', '/v1/key/create/k1'],
    ['PUT', '/v1/key/create/x1'],
    ['PUT', '/v1/key/create/k12'],
    ['GET', '/v1/key/describe/k1'],
    ['GET', '/v1/key/list/*'],
    ['GET', '/v1/key/list/k*'],
    ['GET', '/v1/status'],
    ['GET', '/v1/metrics'],
    ['GET', '/v1/api'],
    ['GET', '/v1/ready'],
    ['GET', '/v1/policy/list/*'],
    ['GET', '/v1/identity/list/*'],
  ] as const;

  /** What each pattern allows, as `PATTERN: PATH`, by the answers of stock KES. */
  async function allowedByStock(kind: 'allow' | 'deny'): Promise<string[]> {
    const clients = await Promise.all(patterns.map((_, at) => issue(ca, `client-${at}`)));
    const policies = patterns.map((pattern, at) => {
      const other = kind === 'deny' ? 'allow: ["*"], ' : '';
      const identity = identityOfCertificate(clients[at]?.certPem ?? '');
      return `p${at}: { ${other}${kind}: [${JSON.stringify(pattern)}], identities: [${identity}] }`;
    });
    const port = await freePort();
    const config = join(folder, `patterns-${kind}.yml`);
    await writeFile(config, configurationOf({ policy: `{ ${policies.join(', ')} }`, tls: 'auth: off' }, port));
    const kes = await startKes({ config, port, folder });
    try {
      const allowed: string[] = [];
      for (const [at, pattern] of patterns.entries()) {
        for (const [method, path] of calls) {
          const client = clients[at];
          if (client === undefined) continue;
          const { status } = await askBy({ ca, client }, port, [method, path]);
          if (status !== 403) allowed.push(`${pattern}: ${path}`);
        }
      }
      return allowed;
    } finally {
      await kes.stop();
    }
  }

  const allowedByOwn = (kind: 'allow' | 'deny') =>
    patterns.flatMap((pattern) =>
      calls
        .filter(([, path]) =>
          allowsPath(kind === 'allow' ? { allow: [pattern], deny: [] } : { allow: ['*'], deny: [pattern] }, path),
        )
        .map(([, path]) => `${pattern}: ${path}`),
    );

  // Signs within a pattern, such as `[a-z]`, are those of the releases of 2023, and have no effect in KES since 2024.
  it.each(['allow', 'deny'] as const)(
    'cover the same calls under %s',
    async (kind) => {
      expect(allowedByOwn(kind)).toEqual(await allowedByStock(kind));
    },
    120_000,
  );
});
