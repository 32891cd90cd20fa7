import { describe, expect, it } from 'vitest';
import { parseConfig } from './config-file.ts';

const hashA = 'a'.repeat(64);
const hashB = 'b'.repeat(64);
const minimal = `
root: disabled
tls: { key: k.pem, cert: c.pem }
keystore: { fs: { path: /keys } }
`;
const approle = 'approle: { id: r, secret: s }';
const withVault = (logins: string) =>
  minimal.replace('{ fs: { path: /keys } }', () => `{ vault: { endpoint: "https://v", ${logins} } }`);
const parse = (text: string, environment: Record<string, string> = {}) => parseConfig(text, environment);

describe('the configuration', () => {
  it('has defaults for what it leaves out', () => {
    expect(parse(minimal)).toEqual({
      address: { host: '0.0.0.0', port: 7373 },
      admin: undefined,
      tls: { keyFile: 'k.pem', certFile: 'c.pem' },
      verifyClients: true,
      proxies: { identities: new Set(), certHeader: 'x-tls-client-cert' },
      policies: [],
      keys: [],
      canaries: [],
      keyStore: { kind: 'files', path: '/keys' },
      cache: { any: 300_000, unused: 30_000, offline: 0 },
      skipAuth: new Set(),
      timeouts: new Map(),
      logErrors: true,
      logAudit: false,
      shutdownDelayMs: 0,
      warnings: [expect.stringMatching(/^tls\.auth is not set/)],
    });
  });

  it('keeps a policy with any name', () => {
    const { policies } = parse(
      `${minimal}policy: { __proto__: { allow: [/v1/key/create/*], identities: [${hashA}] } }\n`,
    );
    expect(policies).toHaveLength(1);
    expect(() => parse(`${minimal}policy: { __proto__: { allowed: [] } }\n`)).toThrow(/__proto__/);
  });

  it('takes everything that it may hold', () => {
    const config = parse(
      `
version: v1
address: 127.0.0.1:7000
admin: { identity: ${hashA} }
tls:
  key: k.pem
  cert: c.pem
  password: \${PASSWORD}
  ca: ca.pem
  auth: off
  proxy: { identities: [], header: { cert: X-Tls-Client-Cert } }
policy:
  app:
    allow: [/v1/key/create/*]
    deny: [/v1/key/create/root-*]
    identities: ["\${APP}"]
cache: { expiry: { any: 5m0s, unused: 20s, offline: 1h } }
api: { /v1/ready: { skip_auth: true, timeout: 15s } }
log: { error: off, audit: on }
keys: [{ name: one }, { name: two }]
keystore: { fs: { path: /keys } }
`,
      { PASSWORD: 'secret', APP: hashB },
    );
    expect(config).toMatchObject({
      address: { host: '127.0.0.1', port: 7000 },
      admin: hashA,
      tls: { password: 'secret', caFile: 'ca.pem' },
      verifyClients: false,
      policies: [{ name: 'app', allow: ['/v1/key/create/*'], deny: ['/v1/key/create/root-*'], identities: [hashB] }],
      keys: ['one', 'two'],
      cache: { any: 300_000, unused: 20_000, offline: 3_600_000 },
      logErrors: false,
      logAudit: true,
    });
    expect(config.skipAuth).toEqual(new Set(['/v1/ready']));
  });

  it('reads a variable as a line of a file', () => {
    const text = `${minimal}\npolicy: { app: { allow: [/v1/status], identities: ["\${APP}"] } }`;
    expect(parse(text, { APP: `${hashB}\r\n` })).toEqual(parse(text, { APP: hashB }));
    const latin1 = Buffer.from('pässword', 'latin1').toString('utf8');
    expect(() => parse(text, { APP: latin1 })).toThrow('the environment variable APP has bytes that are not UTF-8');
    expect(() => parse(text, { APP: 'secret ' })).toThrow('APP begins or ends with a blank');
  });

  it('gives way to the command line', () => {
    const overrides = { addr: ':1', key: 'k2', cert: 'c2', auth: 'off' } as const;
    expect(parseConfig(minimal, {}, overrides)).toMatchObject({
      address: { port: 1 },
      tls: { keyFile: 'k2', certFile: 'c2' },
      verifyClients: false,
    });
  });

  it.each(['root', 'admin.identity'])('names the superuser by %s', (where) => {
    const line = where === 'root' ? `root: ${hashA}` : `admin: { identity: ${hashA} }`;
    expect(parse(minimal.replace('root: disabled', line)).admin).toBe(hashA);
  });

  it('takes root and admin.identity that agree', () => {
    expect(parse(`${minimal}\nadmin: { identity: disabled }`).admin).toBeUndefined();
  });
});

describe('a configuration of other releases of the protocol', () => {
  const policies = (text: string) => parse(`${minimal}\npolicy:\n${text}`, { KID: hashA }).policies;
  it.each([
    [
      'admin.identity by a word of YAML',
      minimal.replace('root: disabled', 'admin: { identity: false }'),
      { admin: undefined },
    ],
    ['empty tls.auth', minimal.replace('key: k.pem', 'auth: "", password: "", key: k.pem'), { verifyClients: true }],
    ['empty log', `${minimal}\nlog: { error: "", audit: "" }`, { logErrors: true, logAudit: false }],
    [
      'levels of the log with numbers',
      `${minimal}\nlog: { error: WARN+2, audit: "4" }`,
      { logErrors: true, logAudit: true },
    ],
    ['tls.auth in capitals', minimal.replace('key: k.pem', 'auth: OFF, key: k.pem'), { verifyClients: false }],
    [
      'the words of YAML 1.1',
      `${minimal}\napi: { /v1/ready: { skip_auth: yes }, /v1/status: { skip_auth: Off }, /v1/metrics: { skip_auth: True } }`,
      { skipAuth: new Set(['/v1/ready', '/v1/metrics']) },
    ],
    ['levels of the log', `${minimal}\nlog: { error: debug, audit: OFF }`, { logErrors: true, logAudit: false }],
    [
      'levels of the log with signs and blanks',
      `${minimal}\nlog: { error: "INFO +1", audit: "+4" }`,
      { logErrors: true, logAudit: true },
    ],
    ['a level of the log below another', `${minimal}\nlog: { error: INFO+-2, audit: "-4" }`, { logAudit: true }],
    [
      'a policy that is merged into another',
      `${minimal}\npolicy: { a: &a { allow: [/v1/status], deny: [/v1/metrics] }, b: { <<: *a, deny: [/v1/key/*] } }`,
      {
        policies: [
          { name: 'a', allow: ['/v1/status'], deny: ['/v1/metrics'] },
          { name: 'b', allow: ['/v1/status'], deny: ['/v1/key/*'] },
        ],
      },
    ],
    ...[
      'aws: {}',
      'aws: { secretsmanager: }',
      'azure: { keyvault: "" }',
      'gcp: { secretmanager: }',
      'fortanix: { sdkms: }',
      'gemalto: { keysecure: }',
      'entrust: {}',
    ].map((store): [string, string, object] => [
      `another store without its section, ${store}`,
      minimal.replace('{ fs:', `{ ${store}, fs:`),
      { keyStore: { kind: 'files', path: '/keys' } },
    ]),
    ['a number as the name of a key', `${minimal}\nkeys: [{ name: 2024 }, { name: 007 }]`, { keys: ['2024', '007'] }],
    [
      'stores without a value beside the one store',
      minimal.replace('{ fs:', '{ entrust: , vault: "", fs:'),
      { keyStore: { kind: 'files', path: '/keys' } },
    ],
    ['a key without a name', `${minimal}\nkeys: [{ name: "" }, { name: k }, { name: }, ~]`, { keys: ['k'] }],
    ['empty sections', `${minimal}\ncache: ""\napi:\nkeys: []\nshutdown: { delay: "" }`, { keys: [] }],
    [
      'Go durations',
      `${minimal}\ncache: { expiry: { any: 1.5m, unused: 20000000us, offline: 0s } }`,
      {
        cache: { any: 90_000, unused: 20_000, offline: 0 },
      },
    ],
  ])('takes %s', (_, text, expected) => {
    expect(parse(text)).toMatchObject(expected);
  });

  it('takes every path under api, with and without a slash at its end', () => {
    const config = parse(
      `${minimal}\napi: { /v1/key/create/: { timeout: 30s }, /v1/ready/: { skip_auth: true }, /v1/enclave/create/: { timeout: 1s }, /version: { timeout: 5s } }`,
    );
    expect(config.timeouts.get('/v1/key/create')).toBe(30_000);
    expect(config.skipAuth).toEqual(new Set(['/v1/ready']));
  });

  it.each([
    [
      'an identity that no caller has',
      `${minimal}\npolicy: { a: { identities: [me, ${hashA.toUpperCase()}, ${hashB}] } }`,
      [/^policy\.a\.identities: "me" is no identity/, /^policy\.a\.identities: "A{64}" is no identity/],
    ],
    [
      'patterns that match no call',
      `${minimal}\npolicy: { a: { allow: [v1/status, "/v1/[a"], deny: [/v2/*] } }`,
      [
        /"v1\/status" matches no call that a policy decides/,
        /"\/v1\/\[a" matches no call that a policy decides/,
        /"\/v2\/\*" matches no call that a policy decides/,
      ],
    ],
    [
      'a TLS proxy by a word',
      minimal.replace('key: k.pem', 'proxy: { identities: [nginx] }, key: k.pem'),
      [/^tls\.proxy\.identities: "nginx" is no identity/],
    ],
    [
      'a superuser that no caller is',
      minimal.replace('root: disabled', `admin: { identity: ${hashA.slice(1)} }`),
      [/^admin\.identity: "a{63}" is no identity/],
    ],
    [
      'paths under api that are those of no call',
      `${minimal}\napi: { /v1/enclave/create/: { timeout: 1s }, v1/ready: { skip_auth: true }, "/v1/key/create/*": { timeout: 1s } }`,
      [
        /^api\.\/v1\/enclave\/create\/ is no path/,
        /^api\.v1\/ready is no path/,
        /^api\.\/v1\/key\/create\/\* is no path/,
      ],
    ],
    [
      'keys whose names are not set',
      `${minimal}\nkeys: [{ name: a }, { name: "\${EMPTY}" }, { name: null }, null]`,
      [/^keys\.1\.name is not set, so that no key is made/, /^keys\.2\.name is not set/, /^keys\.3\.name is not set/],
    ],
    [
      'a login to Vault whose role is an empty variable',
      withVault(`${approle}, kubernetes: { role: "\${EMPTY}" }`),
      [/^keystore\.vault\.kubernetes\.role is empty.*by approle/],
    ],
    [
      'a login to Vault by a token without a role',
      withVault(`${approle}, kubernetes: { jwt: /token }`),
      [/^keystore\.vault\.kubernetes\.role is empty.*by approle/],
    ],
    [
      'a login to Vault whose ID is an empty variable',
      withVault('approle: { id: "${EMPTY}", secret: "" }, kubernetes: { role: r }'),
      [/^keystore\.vault\.approle\.id is empty.*by kubernetes/],
    ],
  ])('starts, and warns, with %s', (_, text, warnings) => {
    expect(parseConfig(text, { EMPTY: '' }, { auth: 'on' }).warnings).toEqual(
      warnings.map((warning) => expect.stringMatching(warning) as string),
    );
  });

  it('takes a login of Vault with empty texts for none, without a warning, as in the sample files', () => {
    const empty = 'kubernetes: { engine: kubernetes, role: "", jwt: "", retry: 15s }';
    expect(parseConfig(withVault(`${approle}, ${empty}`), {}, { auth: 'on' }).warnings).toEqual([]);
  });

  it.each([
    ['no word', '', 1],
    ['an empty one, as in the sample file', 'auth: "", ca: ""', 1],
    ['its word', 'auth: on', 0],
    ['authorities', 'ca: ca.crt', 0],
  ])('warns that it trusts no client of its own: %s on client certificates', (_, tls, count) => {
    const { warnings } = parse(minimal.replace('key: k.pem', `${tls === '' ? '' : `${tls}, `}key: k.pem`));
    expect(
      warnings.filter((line) => /^tls\.auth is not set, and tls\.ca neither: .*`auth: off`/.test(line)),
    ).toHaveLength(count);
  });

  it('takes a star under deny for everything', () => {
    expect(policies('  a: { deny: ["*", "**", "*/v1/status", "/v1/[a-z]*"] }')).toHaveLength(1);
  });

  it('takes a superuser by any word for none, without a warning', () => {
    for (const word of ['_', 'disabled', 'false', 'none'])
      expect(
        parseConfig(minimal.replace('root: disabled', `admin: { identity: ${word} }`), {}, { auth: 'on' }),
      ).toMatchObject({ admin: undefined, warnings: [] });
  });

  it('opens the version without a certificate where skip_auth says so', () => {
    expect(parse(`${minimal}\napi: { /version: { skip_auth: true } }`).skipAuth).toEqual(new Set(['/version']));
  });

  it('takes a policy without a value, and empty entries of lists', () => {
    expect(policies('  later:\n  app: { allow: ["/v1/status", ""], identities: ["${ KID }", ""] }')).toEqual([
      { name: 'later', allow: [], deny: [], identities: [] },
      { name: 'app', allow: ['/v1/status'], deny: [], identities: [hashA] },
    ]);
  });
});

describe('a configuration is refused', () => {
  const replace = (before: string, after: string) => minimal.replace(before, after);
  it('for a line under deny of a variable that is empty', () => {
    const text = `${minimal}\npolicy: { a: { allow: [/v1/*], deny: ["\${EMPTY}"] } }`;
    expect(() => parse(text, { EMPTY: '' })).toThrow(/^policy\.a\.deny\.0: "" .*deny nothing/);
  });

  it.each([
    ['for a variable that is not set', replace('/keys', '"${KEYS}"'), /keystore\.fs\.path .*KEYS, which is not set/],
    ['for YAML that is none', 'a: [', /no valid YAML/],
    ['for settings it does not know', `${minimal}\nadress: x`, /unknown settings: adress/],
    ['without a superuser or "disabled"', replace('root: disabled', ''), /root is missing/],
    ['for two superusers', `${minimal}\nadmin: { identity: ${hashA} }`, /root is "disabled" and admin\.identity is/],
    ['for a hash cut short', replace('disabled', 'a'.repeat(63)), /root: "a{63}" is neither/],
    ['for a hash in capitals', replace('disabled', 'A'.repeat(64)), /64 lower-case/],
    ['without a key', replace('key: k.pem, ', ''), /tls\.key is missing/],
    ['without a certificate', replace(', cert: c.pem', ''), /tls\.cert is missing/],
    ['for an address that is none', `${minimal}\naddress: somewhere`, /address: "somewhere" is no address/],
    [
      'for an identity in two policies',
      `${minimal}\npolicy: { a: { identities: [${hashA}] }, b: { identities: [${hashA}] } }`,
      /in two policies, "a" and "b"/,
    ],
    [
      'for a superuser with a policy',
      `${replace('disabled', hashA)}\npolicy: { a: { identities: [${hashA}] } }`,
      /who needs no policy/,
    ],
    ...['', 'v1/key/create/*', '/v1/key/create/[a', '/v1/key/create/[z-a]', '?v1/status', '*v1/status'].map(
      (pattern): [string, string, RegExp] => [
        `for ${pattern} under deny, which would guard nothing`,
        `${minimal}\npolicy: { a: { allow: [/v1/*], deny: ["${pattern}"] } }`,
        /^policy\.a\.deny\.0: ".*" (?:begins with no "\/"|is no pattern).*deny nothing/,
      ],
    ),
    ['for a key listed twice', `${minimal}\nkeys: [{ name: k }, { name: k }]`, /keys lists "k" twice/],
    ['for a key name that is none', `${minimal}\nkeys: [{ name: a/b }]`, /keys\.0\.name: "a\/b" is no key name/],
    ['for a word where on or off belongs', `${minimal}\nlog: { audit: maybe }`, /log\.audit: .*\(it is "maybe"\)/],
    ['for a value where a section belongs', 'keystore: hunter2', /keystore: [^(]*received string$/],
    ['for a file that is no configuration', '-----BEGIN PRIVATE KEY-----', /the configuration: [^(]*received string$/],
    [
      'for credentials of one value',
      minimal.replace('{ fs: { path: /keys } }', '{ azure: { keyvault: { endpoint: e, credentials: hunter2 } } }'),
      /credentials: [^(]*received string$/,
    ],
    [
      'for a mistake of YAML, without its line',
      'a: b\n secret: hunter2: c',
      /no valid YAML: line \d+, column \d+: [^\n]*$/,
    ],
    [
      'for a timeout longer than a timer waits',
      `${minimal}api: { /v1/ready: { timeout: 30d } }`,
      /timeout: is longer than 24d/,
    ],
    [
      'for a duration that is none',
      `${minimal}\ncache: { expiry: { any: soon } }`,
      /cache\.expiry\.any: "soon" is no duration/,
    ],
    [
      'for a call that always needs a certificate',
      `${minimal}\napi: { /v1/key/create: { skip_auth: true } }`,
      /api\.\/v1\/key\/create: always needs a certificate/,
    ],
    [
      'for a TLS proxy that is the superuser',
      replace('key: k.pem', `proxy: { identities: [${hashA}] }, key: k.pem`).replace('disabled', hashA),
      /tls\.proxy\.identities lists the superuser/,
    ],
    [
      'for a TLS proxy that has a policy',
      `${replace('key: k.pem', `proxy: { identities: [${hashA}] }, key: k.pem`)}\npolicy: { app: { identities: [${hashA}] } }`,
      /tls\.proxy\.identities lists .* which is in the policy "app"/,
    ],
    ['without a key store', replace('keystore: { fs: { path: /keys } }', ''), /keystore is missing/],
    [
      'for a key store that is not supported',
      replace('fs: { path: /keys }', 'fortanix: { sdkms: {} }'),
      /keystore\.fortanix is not supported; what is: fs, azure/,
    ],
    [
      'for a key store nobody knows',
      replace('fs: { path: /keys }', 'floppy: {}'),
      /keystore\.floppy is unknown; known are fs/,
    ],
    ['for two key stores', replace('fs:', 'vault: {}, fs:'), /vault and fs/],
    ['for a folder that is not named', replace('path: /keys', ''), /keystore\.fs\.path: is missing/],
    ['for a store without a value', replace('{ path: /keys }', ''), /keystore\.fs\.path: is missing/],
    [
      'for a store without its section alone',
      replace('fs: { path: /keys }', 'aws: { secretsmanager: }'),
      /keystore\.aws\.secretsmanager: is missing/,
    ],
    ['for a section that is merged from no section', `${minimal}\npolicy: { a: { <<: word } }`, /no valid YAML/],
  ])('%s', (_, text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  it('without quoting a secret', () => {
    const text = minimal.replace('key: k.pem', 'password: [hunter2], key: k.pem');
    expect(() => parse(text)).toThrow(/tls\.password/);
    expect(() => parse(text)).not.toThrow(/hunter2/);
  });
});
