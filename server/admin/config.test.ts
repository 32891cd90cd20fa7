import { beforeEach, describe, expect, it } from 'vitest';
import { configurationsTest } from '../../test/support/admin/configurations.ts';

let call: Awaited<ReturnType<typeof configurationsTest>>;

beforeEach(async () => {
  call = await configurationsTest();
});

const url = 'https://idp/realms/a/.well-known/openid-configuration';
const okta = `identity_openid:okta config_url=${url} client_id=a client_secret=hunter2`;
const rejected = (code: string, says: RegExp) => ({
  status: 400,
  text: expect.stringMatching(new RegExp(`${code}.*${says.source}`)) as string,
});
interface Entry {
  readonly restoreId: string;
  readonly createTime: string;
  readonly data: string;
}
const admit = () => Promise.resolve();
const history = async () => JSON.parse((await call('GET', 'list-config-history-kv?count=10')).text) as Entry[];

describe('get-config-kv', () => {
  it('shows what is stored, and by comments what the environment gives', async () => {
    await call('PUT', 'set-config-kv', okta);
    const { text, isSealed } = await call('GET', 'get-config-kv?key=identity_openid');
    expect(isSealed).toBe(true);
    expect(text).toContain('# MINIO_IDENTITY_OPENID_CLIENT_ID_fixed=fixed-client\n');
    expect(text).toContain('\nidentity_openid:fixed\n');
    expect(text).toContain(`\nidentity_openid:okta config_url=${url} client_id=a client_secret=*REDACTED*\n`);
    expect(text).not.toMatch(/hunter2|fixed-secret/);
  });

  it('shows one by its name, and refuses what there is not', async () => {
    await call('PUT', 'set-config-kv', okta);
    expect((await call('GET', 'get-config-kv?key=identity_openid:okta')).text).toMatch(/^identity_openid:okta /);
    expect(await call('GET', 'get-config-kv?key=identity_openid:x')).toMatchObject(
      rejected('XMinioAdminNoSuchConfigTarget', /identity_openid:x/),
    );
    expect(await call('GET', 'get-config-kv?key=notify_nsq')).toMatchObject(
      rejected('XMinioAdminNoSuchConfigTarget', /notify_nsq/),
    );
  });

  it.each([
    ['site', '# MINIO_SITE_REGION=eu-central-1\nsite region=us-east-1\n'],
    ['region', '# MINIO_SITE_REGION=eu-central-1\nsite region=us-east-1\n'],
    ['identity_check', 'identity_check interval=10m unreachable=keep\n'],
    ['subnet', 'subnet license= api_key= proxy=\n'],
    ['callhome', 'callhome enable=off frequency=24h\n'],
  ])('shows %s of the environment', async (key, text) => {
    expect((await call('GET', `get-config-kv?key=${key}`)).text).toBe(text);
  });

  it('never shows a secret of the environment', async () => {
    expect((await call('GET', 'get-config-kv?key=storage')).text).toContain('# SVC_STORE_RECORDS=*REDACTED*');
  });
});

describe('an export of MinIO', () => {
  const exported = `# MINIO_X=y\napi requests_max=99 root_access=on\nsite region=us-east-1\n${okta}\nheal:a bitrotscan=off\n`;
  /** The export of a MinIO of 2025 on which nothing was set. Subsystems that are off are comments. */
  const untouched = [
    'subnet license= api_key= proxy= ',
    '# callhome enable=off frequency=24h ',
    'drive max_timeout=30s ',
    'site name= region= ',
    'api requests_max=0 cluster_deadline=10s cors_allow_origin=* remote_transport_deadline=2h list_quorum=strict replication_priority=auto replication_max_workers=500 replication_max_lrg_workers=10 transition_workers=100 stale_uploads_cleanup_interval=6h stale_uploads_expiry=24h delete_cleanup_interval=5m odirect=on gzip_objects=off root_access=on sync_events=off object_max_versions=9223372036854775807 ',
    'scanner speed=default alert_excess_versions=100 alert_excess_folders=50000 ',
    'batch replication_workers_wait=0ms keyrotation_workers_wait=0ms expiration_workers_wait=0ms ',
    '# compression enable=off allow_encryption=off extensions=.txt,.log mime_types=text/* ',
    '# identity_openid enable= display_name= config_url= client_id= ',
    'storage_class standard= rrs=EC:1 optimize=availability ',
    'heal bitrotscan=off max_sleep=250ms max_io=100 drive_workers= ',
    `browser csp_policy="default-src 'self' 'unsafe-eval' 'unsafe-inline'; script-src 'self' https://unpkg.com;  connect-src 'self' https://unpkg.com;" hsts_seconds=0 hsts_include_subdomains=off hsts_preload=off referrer_policy=strict-origin-when-cross-origin `,
    'ilm transition_workers=100 expiration_workers=100 ',
  ];

  it('is imported as far as it can be, and the rest is listed', async () => {
    const answer = await call('PUT', 'config', exported);
    expect(answer).toMatchObject(rejected('XMinioConfigError', /Imported: site, identity_openid\. Left out/));
    expect(answer.text).toMatch(/it: api \(it has no requests_max\), heal:a \(it has no bitrotscan\)\./);
    expect((await call('GET', 'get-config-kv?key=identity_openid:okta')).text).toMatch(/^identity_openid:okta /);
  });

  it('is imported without a word where nothing was set', async () => {
    expect(await call('PUT', 'config', untouched.join('\n'))).toMatchObject({ status: 200 });
  });

  it.each([
    ['subnet license= api_key=secret proxy=', 'subnet (it has no api_key)'],
    ['drive max_timeout=5m', 'drive (it has no max_timeout)'],
    ['batch replication_workers_wait=1s keyrotation_workers_wait=0ms', 'batch (it has no replication_workers_wait)'],
    ['ilm transition_workers=7 expiration_workers=8', 'ilm (it has no transition_workers, expiration_workers)'],
    ['lambda_webhook:a endpoint=https://a', 'lambda_webhook:a (it has no endpoint)'],
    ['unheard_of', 'unheard_of'],
  ])('names what was set and is not here: %s', async (line, named) => {
    const { status, text } = await call(
      'PUT',
      'config',
      [...untouched.filter((one) => !line.startsWith(one.split(' ', 1)[0] ?? '')), line].join('\n'),
    );
    expect([status, text]).toEqual([400, expect.stringContaining(`cannot set it: ${named}. Remove`)]);
    expect(text).not.toContain('secret');
  });

  it('is imported without a word once only known lines are left', async () => {
    expect((await call('PUT', 'config', `site region=us-east-1\n${okta}`)).status).toBe(200);
  });

  it('changes nothing while a line of an identity provider is wrong', async () => {
    const wrong = `${okta}\nidentity_openid:b config_url=${url}`;
    expect((await call('PUT', 'config', wrong)).status).toBe(400);
  });
});

describe('audit_webhook', () => {
  const defaults =
    'enable=on endpoint= auth_token= client_cert= client_key= ca_file= batch_size=1 queue_size=10000 queue_dir= ' +
    'max_retry=0 retry_interval=3s http_timeout=5s';
  const siem =
    '# MINIO_AUDIT_WEBHOOK_ENDPOINT_SIEM=https://siem.test/\n' +
    `# MINIO_AUDIT_WEBHOOK_AUTH_TOKEN_SIEM=*REDACTED*\naudit_webhook:SIEM ${defaults}\n`;
  const nameless = `# SVC_AUDIT_WEBHOOK_ENDPOINT=https://me:[redacted]@siem.test/?[redacted]\naudit_webhook ${defaults}\n`;

  it('shows each target, and by comments what the environment gives, without secrets', async () => {
    expect((await call('GET', 'get-config-kv?key=audit_webhook')).text).toBe(`${nameless}${siem}`);
    expect((await call('GET', 'config')).text).toContain(siem);
  });

  it.each([
    ['audit_webhook:SIEM', siem],
    ['audit_webhook:_', nameless],
  ])('shows %s alone', async (key, text) => {
    expect((await call('GET', `get-config-kv?key=${key}`)).text).toBe(text);
  });

  it('says that there is none of a name, or none at all', async () => {
    expect(await call('GET', 'get-config-kv?key=audit_webhook:x')).toMatchObject(
      rejected('XMinioAdminNoSuchConfigTarget', /audit_webhook:x/),
    );
    const ask = await configurationsTest({ given: new Map() });
    expect((await ask('GET', 'get-config-kv?key=audit_webhook')).text).toBe('audit_webhook enable=off\n');
    expect((await ask('PUT', 'config', 'audit_webhook enable=off')).status).toBe(200);
  });

  it('is set by the environment alone, by the variable of the target', async () => {
    expect(await call('PUT', 'set-config-kv', 'audit_webhook:SIEM endpoint=https://else.test/')).toMatchObject(
      rejected('XMinioAdminConfigEnvOverridden', /SVC_AUDIT_WEBHOOK_ENDPOINT_SIEM /),
    );
    expect(await call('PUT', 'set-config-kv', 'audit_webhook:NEW endpoint=https://new.test/')).toMatchObject(
      rejected('XMinioAdminConfigEnvOverridden', /SVC_AUDIT_WEBHOOK_ENDPOINT_NEW /),
    );
    expect(await call('PUT', 'set-config-kv', 'audit_webhook enable=off')).toMatchObject(
      rejected('XMinioAdminConfigEnvOverridden', /SVC_AUDIT_WEBHOOK_ENABLE /),
    );
    expect(await call('DELETE', 'del-config-kv', 'audit_webhook:SIEM')).toMatchObject(
      rejected('XMinioAdminConfigEnvOverridden', /SVC_AUDIT_WEBHOOK_ENDPOINT_SIEM/),
    );
  });

  it('has help on its keys, and as variables', async () => {
    const asked = JSON.parse((await call('GET', 'help-config-kv?subSys=audit_webhook&key=')).text) as object;
    expect(asked).toMatchObject({ subSys: 'audit_webhook', multipleTargets: true });
    expect((await help('subSys=audit_webhook&key=auth_token')).keysHelp).toMatchObject([{ key: 'auth_token' }]);
    expect((await help('subSys=audit_webhook&key=endpoint&env=')).keysHelp).toMatchObject([
      { key: 'SVC_AUDIT_WEBHOOK_ENDPOINT' },
    ]);
  });
});

describe('set-config-kv', () => {
  it('sets keys, and says that no restart is needed', async () => {
    expect(await call('PUT', 'set-config-kv', okta)).toMatchObject({ status: 200, applied: true });
    expect(await call('PUT', 'set-config-kv', 'identity_openid:okta comment="a b"')).toMatchObject({ applied: true });
    expect((await call('GET', 'get-config-kv?key=identity_openid:okta')).text).toContain('client_id=a');
  });

  it('refuses what comes from the environment, and names the variable', async () => {
    expect(await call('PUT', 'set-config-kv', 'site region=x')).toMatchObject(
      rejected('XMinioAdminConfigEnvOverridden', /SVC_REGION/),
    );
    expect(await call('PUT', 'set-config-kv', 'identity_openid:fixed comment=x')).toMatchObject(
      rejected('XMinioAdminConfigEnvOverridden', /fixed/),
    );
  });

  it('refuses the default of what a variable sets otherwise: it would change nothing', async () => {
    expect(await call('PUT', 'set-config-kv', 'site region=us-east-1')).toMatchObject(
      rejected('XMinioAdminConfigEnvOverridden', /SVC_REGION/),
    );
    // The value that holds, and a default that nothing overrides.
    expect((await call('PUT', 'set-config-kv', 'site region=eu-central-1')).status).toBe(200);
    expect((await call('PUT', 'set-config-kv', 'identity_check interval=10m')).status).toBe(200);
  });

  it.each([
    ['site name=x', /site has no key .*name.*; its keys are region/],
    ['callhome enable=on', /callhome cannot be set/],
    ['subnet key=x', /subnet has no key .*key.*; its keys are license, api_key, proxy/],
    ['identity_plugin url=https://x', /SVC_IDENTITY_PLUGIN_URL/],
  ])('says of %s what is wrong with it', async (line, message) => {
    const { status, text } = await call('PUT', 'set-config-kv', line);
    expect([status, text]).toEqual([400, expect.stringMatching(message)]);
  });

  it('changes nothing where a line of several is refused', async () => {
    await call('PUT', 'set-config-kv', `${okta}\nsite region=x`);
    expect((await call('GET', 'config')).text).not.toContain('okta');
  });
});

describe('del-config-kv', () => {
  it('removes keys, or the whole', async () => {
    await call('PUT', 'set-config-kv', `${okta} comment=x scopes=openid`);
    expect(await call('DELETE', 'del-config-kv', 'identity_openid:okta comment scopes')).toMatchObject({
      applied: true,
    });
    expect((await call('GET', 'get-config-kv?key=identity_openid:okta')).text).not.toMatch(/comment|scopes/);
    await call('DELETE', 'del-config-kv', 'identity_openid:okta');
    expect((await call('GET', 'config')).text).not.toContain('okta');
  });

  it.each(['subnet', 'callhome'])('has nothing to remove of %s, and is done', async (name) => {
    expect(await call('DELETE', 'del-config-kv', name)).toMatchObject({ status: 200 });
  });

  it('removes nothing of the environment', async () => {
    expect(await call('DELETE', 'del-config-kv', 'site')).toMatchObject(
      rejected('XMinioAdminConfigEnvOverridden', /SVC_REGION/),
    );
  });
});

describe('config', () => {
  it('takes back what it exported, secrets included', async () => {
    await call('PUT', 'set-config-kv', okta);
    const { text } = await call('GET', 'config');
    await call('PUT', 'set-config-kv', 'identity_openid:okta comment=later');
    expect(await call('PUT', 'config', text)).toMatchObject({ status: 200 });
    expect((await call('GET', 'config')).text).toBe(text);
  });

  it('refuses a redacted secret that this server does not have', async () => {
    const text = `identity_openid:new config_url=${url} client_id=n client_secret=*REDACTED*`;
    expect(await call('PUT', 'config', text)).toMatchObject(
      rejected('XMinioConfigError', /client_secret.*does not have/),
    );
  });
});

describe('history', () => {
  it('lists changes without secrets, the newest first, and restores one with them', async () => {
    await call('PUT', 'set-config-kv', okta);
    await call('PUT', 'set-config-kv', 'identity_openid:okta client_secret=other comment=x');
    const [last, first] = await history();
    expect(last?.data).toContain('comment=x');
    expect(JSON.stringify([last, first])).not.toMatch(/hunter2|other/);
    expect(await call('PUT', `restore-config-history-kv?restoreId=${first?.restoreId}`)).toMatchObject({ status: 200 });
    expect((await call('GET', 'get-config-kv?key=identity_openid:okta')).text).not.toContain('comment');
  });

  it('forgets one entry, or all', async () => {
    await call('PUT', 'set-config-kv', okta);
    await call('PUT', 'set-config-kv', 'identity_openid:okta comment=x');
    const [last] = await history();
    await call('DELETE', `clear-config-history-kv?restoreId=${last?.restoreId}`);
    expect(await history()).toHaveLength(1);
    await call('DELETE', 'clear-config-history-kv?restoreId=all');
    expect(await history()).toEqual([]);
  });

  it('refuses an entry that is not there', async () => {
    expect(await call('PUT', 'restore-config-history-kv?restoreId=x')).toMatchObject({ status: 400 });
  });
});

const help = async (query: string) =>
  JSON.parse((await call('GET', `help-config-kv?${query}`)).text) as {
    keysHelp: { key: string; optional: boolean }[];
  };

describe('help-config-kv', () => {
  it('lists the subsystems', async () => {
    const { keysHelp } = await help('subSys=&key=');
    expect(keysHelp.map(({ key }) => key)).toEqual(expect.arrayContaining(['identity_openid', 'site', 'kms']));
  });

  it('lists each that get and export show, and no other', async () => {
    const { keysHelp } = await help('subSys=&key=');
    const exported = (await call('GET', 'config')).text;
    for (const { key } of keysHelp) {
      expect(exported, key).toMatch(new RegExp(`^${key}(?::\\w+)?(?: |$)`, 'm'));
      expect((await call('GET', `get-config-kv?key=${key}`)).status, key).toBe(200);
      expect((await help(`subSys=${key}&key=`)).keysHelp.length, key).toBeGreaterThan(0);
    }
    const shown = exported.match(/^[a-z_0-9]+(?=[ :]|$)/gm);
    expect(new Set(shown)).toEqual(new Set(keysHelp.map(({ key }) => key)));
  });

  it('lists the keys of one, and as variables', async () => {
    expect((await help('subSys=identity_openid&key=')).keysHelp).toContainEqual(
      expect.objectContaining({ key: 'config_url', optional: false }),
    );
    expect((await help('subSys=identity_openid&key=client_id')).keysHelp).toHaveLength(1);
    expect((await help('subSys=site&key=&env=')).keysHelp[0]?.key).toBe('SVC_REGION');
  });
});

describe('identity-check', () => {
  it('answers the report about everybody, or about one', async () => {
    const asked: (string | undefined)[] = [];
    const run = (who?: string) => {
      asked.push(who);
      return Promise.resolve({ checked: 1, active: 1, cutOff: [], unreachable: [] });
    };
    const ask = await configurationsTest({ userStatusCheck: { run, admit, confirm: admit } });
    const { status, text } = await ask('POST', '/minio/admin/coffer/v1/identity-check?user=ann');
    expect({ status, report: JSON.parse(text) as unknown }).toMatchObject({ status: 200, report: { checked: 1 } });
    await ask('POST', '/minio/admin/coffer/v1/identity-check');
    expect(asked).toEqual(['ann', undefined]);
  });
});
