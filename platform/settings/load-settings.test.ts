import { ProgramError } from '../errors/program-error.ts';
import { describe, expect, it } from 'vitest';
import { loadSettings } from './load-settings.ts';

const root = { SVC_ROOT_USER: 'root', SVC_ROOT_PASSWORD: 'root-password' };
const keyService = {
  SVC_KMS_KEYSVC_ENDPOINT: 'https://keys:7373',
  SVC_KMS_KEYSVC_KEY_NAME: 'main',
  SVC_KMS_KEYSVC_CERT_FILE: '/client.crt',
  SVC_KMS_KEYSVC_KEY_FILE: '/client.key',
};

function load(env: Record<string, string>, files: Record<string, string> = {}) {
  return loadSettings({
    env,
    readFile: (path) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' });
      return text;
    },
  });
}

function problems(env: Record<string, string>, files: Record<string, string> = {}): readonly string[] {
  try {
    load(env, files);
  } catch (error) {
    if (error instanceof ProgramError) return error.message.split('\n');
    throw error;
  }
  return [];
}

const provider = (suffix: string, clientId: string) => ({
  [`SVC_IDENTITY_OPENID_CONFIG_URL${suffix}`]: 'https://idp/.well-known/openid-configuration',
  [`SVC_IDENTITY_OPENID_CLIENT_ID${suffix}`]: clientId,
});

const directory = {
  ...root,
  SVC_IDENTITY_LDAP_SERVER_ADDR: 'directory',
  SVC_IDENTITY_LDAP_USER_DN_SEARCH_BASE_DN: 'dc=example',
  SVC_IDENTITY_LDAP_USER_DN_SEARCH_FILTER: '(uid=%s)',
};

const origins = (value: string) => load({ ...root, MINIO_API_CORS_ALLOW_ORIGIN: value }).corsOrigins;

describe('loadSettings', () => {
  it('takes the defaults of the table', () => {
    expect(load(root)).toMatchObject({
      address: '0.0.0.0:9000',
      consoleAddress: '0.0.0.0:9090',
      region: 'us-east-1',
      regionEnforced: false,
      corsOrigins: ['*'],
      storageReserve: { kind: 'percent', percent: 1 },
      openid: [],
      warnings: [],
    });
  });

  it.each([
    ['SVC_IDENTITY_OPENID_CONFIG_URL', { SVC_IDENTITY_OPENID_CONFIG_URL: 'idp', SVC_IDENTITY_OPENID_CLIENT_ID: 'a' }],
    ['SVC_AUDIT_WEBHOOK_ENDPOINT', { SVC_AUDIT_WEBHOOK_ENDPOINT: 'siem', SVC_AUDIT_WEBHOOK_ENABLE: 'on' }],
    ['SVC_NOTIFY_WEBHOOK_ENDPOINT_B', { SVC_NOTIFY_WEBHOOK_ENDPOINT_B: 'build' }],
    ['SVC_IDENTITY_LDAP_USER_DN_SEARCH_FILTER', { ...directory, SVC_IDENTITY_LDAP_USER_DN_SEARCH_FILTER: 'uid' }],
    [
      'SVC_IDENTITY_LDAP_LOOKUP_BIND_PASSWORD_FILE',
      { ...directory, SVC_IDENTITY_LDAP_LOOKUP_BIND_DN: 'cn=x', SVC_IDENTITY_LDAP_LOOKUP_BIND_PASSWORD_FILE: '/none' },
    ],
  ])('does not report a wrong value of %s as missing, too', (name, env) => {
    expect(problems({ ...root, ...env }).filter((line) => /is missing|are needed/.test(line))).toEqual([]);
    expect(problems({ ...root, ...env }).join('\n')).toContain(name);
  });

  it.each([
    ['MQTT_BROKER', '127.0.0.1:1883', 'tcp://HOST:PORT'],
    ['AMQP_URL', '127.0.0.1', 'amqp://USER:PASSWORD@HOST:PORT/VHOST'],
    ['KAFKA_BROKERS', 'kafka', 'HOST:PORT'],
    ['KAFKA_BROKERS', 'a:9092,b', 'HOST:PORT'],
    ['POSTGRES_CONNECTION_STRING', '127.0.0.1:5432/events', 'postgres://USER:PASSWORD@HOST:PORT/DATABASE'],
    ['MYSQL_DSN_STRING', 'root@localhost/events', 'USER:PASSWORD@tcp(HOST:PORT)/DATABASE'],
  ])('refuses %s=%s, and says the form that it expects', (part, value, expected) => {
    const found = problems({ ...root, [`SVC_NOTIFY_${part}_A`]: value });
    expect(found.find((line) => line.startsWith(`SVC_NOTIFY_${part}_A`))).toContain(`expected ${expected}`);
  });

  it.each([
    ['SVC_NOTIFY_KAFKA_BROKER_K', 'SVC_NOTIFY_KAFKA_BROKERS_K'],
    ['SVC_NOTIFY_WEBHOOK_AUTHTOKEN_BUILD', 'SVC_NOTIFY_WEBHOOK_AUTH_TOKEN_BUILD'],
    ['SVC_NOTIFY_WEBHOOK_AUTHTOKEN_BUILD_FILE', 'SVC_NOTIFY_WEBHOOK_AUTH_TOKEN_BUILD_FILE'],
    ['SVC_IDENTITY_OPENID_CLIENTID_PRIMARY_IAM', 'SVC_IDENTITY_OPENID_CLIENT_ID_PRIMARY_IAM'],
    ['SVC_AUDIT_WEBHOOK_ENDPONT_SIEM', 'SVC_AUDIT_WEBHOOK_ENDPOINT_SIEM'],
  ])('reads %s as a mistype of %s', (name, meant) => {
    expect(problems({ ...root, [name]: 'x' }).join('\n')).toContain(`${name} is no setting of Coffer: write ${meant},`);
  });

  it('reports a problem once, whoever reads the setting', () => {
    expect(problems({ ...root, SVC_STORE_RECORDS: 'mysql://x' })).toHaveLength(1);
    const found = problems({ ...root, ...keyService, SVC_KMS_KEYSVC_ENDPOINT: 'keys' });
    expect(found).toEqual([...new Set(found)]);
  });

  it('refuses an address of the key service with a path', () => {
    const [problem] = problems({ ...root, ...keyService, SVC_KMS_KEYSVC_ENDPOINT: 'https://keys:7373/v1' });
    expect(problem).toContain('without a path');
  });

  it.each([
    [undefined, 64 * 1024 * 1024],
    ['8MiB', 8 * 1024 * 1024],
    ['0', 0],
  ])('reads the rate of compaction: %s', (value, bytes) => {
    const env = value === undefined ? root : { ...root, SVC_STORAGE_COMPACTION_RATE: value };
    expect(load(env).compactionBytesPerSecond).toBe(bytes);
  });

  it.each(['fast', '-1'])('refuses another rate of compaction: %s', (value) => {
    expect(problems({ ...root, SVC_STORAGE_COMPACTION_RATE: value }).join()).toContain('SVC_STORAGE_COMPACTION_RATE');
  });

  it("understands MinIO's names", () => {
    const settings = load({ MINIO_ROOT_USER: 'minio', MINIO_ROOT_PASSWORD: 'minio123', MINIO_REGION_NAME: 'eu-1' });
    expect(settings).toMatchObject({
      root: { user: 'minio', password: 'minio123' },
      region: 'eu-1',
      regionEnforced: true,
    });
  });

  it('reads the origins that may use S3, and none', () => {
    expect(origins('https://a.example, https://*.b.example')).toEqual(['https://a.example', 'https://*.b.example']);
    expect(origins('none')).toEqual([]);
  });

  it.each(['a.example', 'https://*.*.example', 'https://a.example/', 'none,*'])('refuses the origin %s', (value) => {
    expect(problems({ ...root, SVC_API_CORS_ALLOW_ORIGIN: value })).toEqual([
      expect.stringContaining('SVC_API_CORS_ALLOW_ORIGIN'),
    ]);
  });

  it('prefers the SVC_ name to an alias', () => {
    expect(load({ ...root, MINIO_ROOT_USER: 'minio' }).root.user).toBe('root');
  });

  it('reads a secret from the file that its _FILE variable names, without the final newline', () => {
    const env = { SVC_ROOT_USER: 'root', SVC_ROOT_PASSWORD_FILE: '/run/password' };
    expect(load(env, { '/run/password': 'from a file\n' }).root.password).toBe('from a file');
  });

  it('lets the process environment win over the environment file', () => {
    const files = { '/etc/default/coffer': 'SVC_ROOT_USER=filed\nSVC_ROOT_PASSWORD=filed-password\n' };
    expect(load({ SVC_ROOT_USER: 'given' }, files).root).toEqual({ user: 'given', password: 'filed-password' });
  });

  it('refuses an environment file that was named but is not there', () => {
    expect(problems({ ...root, SVC_CONFIG_ENV_FILE: '/absent' })[0]).toContain(
      'SVC_CONFIG_ENV_FILE is /absent, which cannot be read: no such file: /absent',
    );
  });

  it('refuses to start without root credentials, naming the variables', () => {
    expect(problems({ SVC_ROOT_USER: 'root' })[0]).toMatch(/^SVC_ROOT_PASSWORD is not set/);
  });

  it('never shows a secret that it refuses', () => {
    expect(problems({ SVC_ROOT_USER: 'root', SVC_ROOT_PASSWORD: 'short' })).toEqual([
      'SVC_ROOT_PASSWORD: expected at least 8 characters',
    ]);
  });

  it('collects every problem', () => {
    expect(problems({ ...root, SVC_THREADS: 'many', SVC_LOG_LEVEL: 'loud' })).toHaveLength(2);
  });

  it('reads the key service', () => {
    expect(load({ ...root, ...keyService }).keyService).toEqual({
      endpoints: ['https://keys:7373'],
      defaultKey: 'main',
      client: { kind: 'certificate', certFile: '/client.crt', keyFile: '/client.key' },
    });
  });

  it('wants the key that encrypts by default to be named', () => {
    const { SVC_KMS_KEYSVC_KEY_NAME: _, ...rest } = keyService;
    expect(problems({ ...root, ...rest })[0]).toContain('SVC_KMS_KEYSVC_KEY_NAME is missing');
  });

  it('refuses an API key beside a certificate', () => {
    expect(problems({ ...root, ...keyService, SVC_KMS_KEYSVC_API_KEY: 'kes:v1:x' })[0]).toContain('excludes');
  });

  const oneKey = `my-key:${Buffer.alloc(32, 7).toString('base64')}`;

  it.each([
    ['SVC_KMS_SECRET_KEY', {}],
    ['MINIO_KMS_SECRET_KEY', {}],
    ['SVC_KMS_SECRET_KEY_FILE', { [oneKey]: `${oneKey}\n` }],
    ['MINIO_KMS_SECRET_KEY_FILE', { [oneKey]: oneKey }],
  ] as [string, Record<string, string>][])('reads one key in place of a key service from %s', (name, files) => {
    const { secretKey, keyService: none } = load({ ...root, [name]: oneKey }, files);
    expect([secretKey, none]).toEqual([{ name: 'my-key', secretKey: oneKey.slice('my-key:'.length) }, undefined]);
  });

  it.each([
    ['without a name', oneKey.slice('my-key:'.length)],
    ['of 31 bytes', `my-key:${Buffer.alloc(31).toString('base64')}`],
    ['of 33 bytes', `my-key:${Buffer.alloc(33).toString('base64')}`],
    ['that is no base64', `my-key:${'!'.repeat(43)}=`],
  ])('refuses one key %s, and does not repeat it', (_what, value) => {
    const [issue, ...more] = problems({ ...root, SVC_KMS_SECRET_KEY: value });
    expect([issue, more]).toEqual([expect.stringContaining('NAME:BASE64'), []]);
    expect(issue).not.toContain(value);
  });

  it('refuses one key beside a key service', () => {
    expect(problems({ ...root, ...keyService, SVC_KMS_SECRET_KEY: oneKey })[0]).toContain('excludes');
  });

  it('encrypts everything with one key too', () => {
    const on = { ...root, SVC_KMS_AUTO_ENCRYPTION: 'on' };
    expect(load({ ...on, SVC_KMS_SECRET_KEY: oneKey }).autoEncryption).toBe(true);
    expect(problems(on)[0]).toContain('SVC_KMS_SECRET_KEY');
  });

  it("reads a provider's settings by their suffix, with the vendor's synonyms", () => {
    const settings = load(
      {
        ...root,
        SVC_IDENTITY_OPENID_CONFIG_URL_PRIMARY_IAM: 'https://idp/realms/a/.well-known/openid-configuration',
        SVC_IDENTITY_OPENID_CLIENT_ID_PRIMARY_IAM: 'coffer',
        SVC_IDENTITY_OPENID_CLIENT_SECRET_PRIMARY_IAM_FILE: '/run/secret',
        MINIO_IDENTITY_OPENID_KEYCLOAK_ADMIN_URL_PRIMARY_IAM: 'https://idp/admin',
        SVC_IDENTITY_OPENID_IDP_REALM_PRIMARY_IAM: 'a',
        SVC_IDENTITY_OPENID_VENDOR_PRIMARY_IAM: 'keycloak',
        SVC_IDENTITY_OPENID_SCOPES_PRIMARY_IAM: 'openid, email',
      },
      { '/run/secret': 's3cret' },
    );
    expect(settings.openid).toEqual([
      {
        id: 'PRIMARY_IAM',
        enabled: true,
        configUrl: 'https://idp/realms/a/.well-known/openid-configuration',
        clientId: 'coffer',
        clientSecret: 's3cret',
        scopes: ['openid', 'email'],
        claimName: 'policy',
        claimUserinfo: false,
        rolePolicy: [],
        redirectUriDynamic: false,
        vendor: 'keycloak',
        adminUrl: 'https://idp/admin',
        realm: 'a',
      },
    ]);
  });

  it('reads the provider without a suffix as _', () => {
    const env = { ...root, MINIO_IDENTITY_OPENID_CONFIG_URL: 'https://idp', MINIO_IDENTITY_OPENID_CLIENT_ID: 'coffer' };
    expect(load(env).openid.map((provider) => provider.id)).toEqual(['_']);
  });

  it('says which provider lacks which setting', () => {
    expect(problems({ ...root, SVC_IDENTITY_OPENID_CONFIG_URL_X: 'https://idp' })).toEqual([
      'SVC_IDENTITY_OPENID_CLIENT_ID_X is missing: the provider X cannot be used without it',
    ]);
  });

  it.each(['SVC_ROOT_PASSWORD', 'MINIO_ROOT_PASSWORD', 'MINIO_SECRET_KEY'])(
    'warns of the password of MinIO in %s',
    (name) => {
      expect(load({ SVC_ROOT_USER: 'minioadmin', [name]: 'minioadmin' }).warnings).toEqual([
        expect.stringContaining('the root password is minioadmin'),
      ]);
      expect(load({ SVC_ROOT_USER: 'minioadmin', [name]: 'another-password' }).warnings).toEqual([]);
    },
  );

  it.each([
    'MINIO_NOTIFY_KAFKA_TLS_SKIP_VERIFY_1',
    'MINIO_NOTIFY_KAFKA_TLS_SKIP_VERIFY',
    'MINIO_NOTIFY_NATS_TLS_SKIP_VERIFY_1',
  ])('refuses %s by its own name', (name) => {
    const kafka = { SVC_NOTIFY_KAFKA_BROKERS_1: 'a:9092', SVC_NOTIFY_KAFKA_TOPIC_1: 'events' };
    const found = problems({ ...root, ...kafka, [name]: 'on' });
    expect(found).toEqual([expect.stringMatching(new RegExp(`^${name} `)) as string]);
  });

  it('warns of variables that no setting has', () => {
    expect(
      load({ ...root, SVC_NONSENSE: 'eu', SVC_IDENTITY_OPENID_COMMENT_X: 'y', SVC_IDENTITY_OPENID_ENABLE_X: 'off' })
        .warnings,
    ).toEqual(['SVC_NONSENSE is no setting of Coffer and is ignored']);
  });

  it.each([
    ['MINIO_POLICY_PLUGIN_URL', 'https://opa', 'had another service decide about access'],
    ['MINIO_IDENTITY_OPENID_CLIAM_NAME', 'groups', 'changed who may sign in'],
    ['MINIO_API_ROOT_ACCESS', 'off', 'decided whether the root credentials work'],
    ['MINIO_KMS_SERVER', 'https://kms', 'changed how objects are encrypted'],
    ['MINIO_AUDIT_KAFKA_BROKERS', 'kafka:9092', 'sent the audit log elsewhere'],
    ['MINIO_STORAGE_CLASS_STANDARD', 'EC:4', 'set how many drives may fail'],
  ])('refuses to start with %s, which it would have to ignore', (name, value, effect) => {
    expect(problems({ ...root, [name]: value })).toEqual([expect.stringContaining(`${name} ${effect} in MinIO`)]);
    expect(load({ ...root, [name]: value, SVC_IGNORED_VARIABLES: `MINIO_OTHER,${name}` }).warnings).toEqual([
      `${name} is no setting of Coffer and is ignored`,
    ]);
  });

  it('only warns of a variable that switches nothing on, or guards nothing', () => {
    expect(load({ ...root, MINIO_AUDIT_KAFKA_ENABLE: 'off', MINIO_SCANNER_SPEED_X: 'slow' }).warnings).toHaveLength(2);
  });
});

describe('settings that would have no effect', () => {
  it.each([
    [
      { SVC_KMS_KEYSVC_KEY_NAME: 'k', MINIO_KMS_KES_CERT_FILE: '/c' },
      'SVC_KMS_KEYSVC_KEY_NAME, MINIO_KMS_KES_CERT_FILE have no effect without SVC_KMS_KEYSVC_ENDPOINT: set it, or unset these',
    ],
    [
      { SVC_KMS_KEYSVC_ENDPOINT: ',', SVC_KMS_KEYSVC_KEY_NAME: 'k' },
      'SVC_KMS_KEYSVC_ENDPOINT is ",": it names no address',
    ],
    [
      { SVC_IDENTITY_LDAP_LOOKUP_BIND_DN: 'cn=x' },
      'SVC_IDENTITY_LDAP_LOOKUP_BIND_DN has no effect without SVC_IDENTITY_LDAP_SERVER_ADDR: set it, or unset this',
    ],
    [
      { SVC_KMS_AUTO_ENCRYPTON: 'on' },
      'SVC_KMS_AUTO_ENCRYPTON is no setting of Coffer: write SVC_KMS_AUTO_ENCRYPTION, or name it in SVC_IGNORED_VARIABLES to start without its effect',
    ],
    [
      { SVC_IDENTITY_PLUGIN_AUTH_TOKEN: 'x' },
      'SVC_IDENTITY_PLUGIN_AUTH_TOKEN has no effect without SVC_IDENTITY_PLUGIN_URL: set it, or unset this',
    ],
    [
      { SVC_IDENTITY_TLS_CA_FILE: '/ca' },
      'SVC_IDENTITY_TLS_CA_FILE has no effect without SVC_IDENTITY_TLS_ENABLE: set it, or unset this',
    ],
    [
      { SVC_STORE_BLOBS: 'files:/b', SVC_STORE_BLOBS_S3_ACCESS_KEY: 'x' },
      'SVC_STORE_BLOBS_S3_ACCESS_KEY has no effect without SVC_STORE_BLOBS: set it to s3://…, or unset this',
    ],
    [
      { SVC_STORE_RECORDS_PASSWORD: 'x' },
      'SVC_STORE_RECORDS_PASSWORD has no effect without SVC_STORE_RECORDS: set it to postgres://…, or unset this',
    ],
    [
      {
        ...keyService,
        SVC_KMS_KEYSVC_CERT_FILE: '',
        SVC_KMS_KEYSVC_KEY_FILE: '',
        SVC_KMS_KEYSVC_API_KEY: 'kes:v1:x',
        SVC_KMS_KEYSVC_KEY_PASSWORD: 'p',
      },
      'SVC_KMS_KEYSVC_KEY_PASSWORD has no effect with SVC_KMS_KEYSVC_API_KEY: unset one of them',
    ],
    [
      { 'SVC_IDENTITY_OPENID_CONFIG_URL_a.b': 'https://idp' },
      'SVC_IDENTITY_OPENID_CONFIG_URL_a.b: the name "a.b" after SVC_IDENTITY_OPENID_CONFIG_URL_ may hold A-Z a-z 0-9 _ - alone',
    ],
    [
      { ...directory, SVC_IDENTITY_LDAP_GROUP_SEARCH_FILTER: '(member=%d)' },
      'SVC_IDENTITY_LDAP_GROUP_SEARCH_BASE_DN and SVC_IDENTITY_LDAP_GROUP_SEARCH_FILTER belong together: without both no user has groups',
    ],
    [
      { ...directory, SVC_IDENTITY_LDAP_SERVER_STARTTLS: 'on', SVC_IDENTITY_LDAP_SERVER_INSECURE: 'on' },
      'SVC_IDENTITY_LDAP_SERVER_STARTTLS and SVC_IDENTITY_LDAP_SERVER_INSECURE exclude each other: switch one of them off',
    ],
    [
      { ...directory, SVC_IDENTITY_LDAP_LOOKUP_BIND_PASSWORD: 'x' },
      'SVC_IDENTITY_LDAP_LOOKUP_BIND_PASSWORD has no effect without SVC_IDENTITY_LDAP_LOOKUP_BIND_DN: set both, or neither',
    ],
    [
      { ...directory, SVC_IDENTITY_LDAP_SERVER_ADDR: 'directory:99999' },
      'SVC_IDENTITY_LDAP_SERVER_ADDR: the port 99999 is above 65535',
    ],
  ])('are refused: %j', (env, problem) => {
    expect(problems({ ...root, ...env })).toEqual([problem]);
  });

  it.each<Record<string, string>>([
    { SVC_IDENTITY_LDAP_ENABLE: 'off', SVC_IDENTITY_LDAP_LOOKUP_BIND_DN: 'cn=x' },
    { SVC_IDENTITY_TLS_ENABLE: 'off', SVC_IDENTITY_TLS_CA_FILE: '/ca' },
    { SVC_KMS_KEYSVC_KEY_NAME: '' },
    { SVC_SERVICE_HOST: '10.0.0.1', SVC_PORT: 'tcp://10.0.0.1:80', SVC_PORT_80_TCP_ADDR: '10.0.0.1' },
    { SVC_REGOIN: 'eu', SVC_IGNORED_VARIABLES: 'SVC_REGOIN' },
  ])('are accepted where they are switched off by name, or empty: %j', (env) => {
    expect(problems({ ...root, ...env })).toEqual([]);
  });
});

describe('durations of loadSettings', () => {
  it.each([
    ['SVC_LIFECYCLE_DAY', '0s'],
    ['SVC_ACCESS_LOG_INTERVAL', '0s'],
    ['SVC_ACCESS_LOG_INTERVAL', '30d'],
    ['SVC_IDENTITY_OPENID_CHECK_INTERVAL', '30d'],
    ['SVC_STS_DURATION', '1s'],
    ['SVC_CONSOLE_SESSION_DURATION', '0s'],
  ])('refuses %s of %s', (name, value) => {
    expect(problems({ ...root, [name]: value })).toEqual([
      expect.stringMatching(`^${name} is "${value}": expected a duration from `),
    ]);
  });
});

describe('loadSettings of providers', () => {
  it('refuses the admin interface of a provider without its vendor, since no user would be looked up', () => {
    const env = { ...root, ...provider('_A', 'a'), SVC_IDENTITY_OPENID_IDP_ADMIN_URL_A: 'https://idp/admin' };
    expect(problems(env)).toEqual([
      'SVC_IDENTITY_OPENID_IDP_ADMIN_URL_A has no effect without SVC_IDENTITY_OPENID_VENDOR_A keycloak: set both, or neither',
    ]);
    expect(problems({ ...env, SVC_IDENTITY_OPENID_ENABLE_A: 'off' })).toEqual([]);
  });

  it('refuses two providers with one client', () => {
    expect(problems({ ...root, ...provider('', 'a'), ...provider('_B', 'a') })).toEqual([
      'SVC_IDENTITY_OPENID_CLIENT_ID_B is "a", which the configuration _ has already: make a client for each',
    ]);
  });
});
