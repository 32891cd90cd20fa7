import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { context, pem, issue, server, tenant } from '../../test/support/operator/render-cases.ts';
import type { Spec } from '../../test/support/operator/rules/rule-case.ts';
import { notificationTargets } from '../../test/support/operator/rules/tenant-cases.ts';
import { loadSettings } from '../../platform/settings/load-settings.ts';
import type { Workload } from '../contract/workload.ts';
import { renderTargets } from './tenant-targets.ts';
import { restartReasons } from '../reconcile/rollout.ts';

const secrets = {
  build: { authToken: 'build-token-value', 'tls.crt': pem, 'tls.key': 'client-key-value' },
  siem: { authToken: 'siem-token-value' },
  brokers: {
    password: 'broker-password-value',
    saslPassword: 'sasl-password-value',
    token: 'token-value',
    nkeySeed: 'seed-value',
    userCredentials: 'creds-value',
    connectionString: 'postgres://a:url-value@db/events',
    dsnString: 'a:dsn-value@tcp(db:3306)/events',
    url: 'amqp://a:amqp-value@rabbit',
  },
};
const hook = { endpoint: 'https://build.example.com/hook' };
const build: Spec = { id: 'BUILD', credentialsSecret: { name: 'build' }, webhook: hook };
const siem: Spec = {
  id: 'SIEM',
  credentialsSecret: { name: 'siem' },
  webhook: { endpoint: 'https://siem.example.com', durable: true },
};
const all = tenant({ notificationTargets, auditTargets: [siem] });
const of = (spec: Spec, more: Readonly<Record<string, Record<string, string>>> = {}) =>
  server(tenant(spec), [], { ...secrets, ...more });

/** The environment as the server reads it. */
function environmentOf({ environment }: Workload): Record<string, string> {
  return Object.fromEntries(environment.map(({ name, value }) => [name, value.parts.map(shown).join('')]));
}

function shown(part: Workload['environment'][number]['value']['parts'][number]): string {
  if (typeof part === 'string') return part;
  return part.kind === 'mount' ? `/${part.mount}/${part.path ?? ''}` : '127.0.0.1:1';
}

const readFile = (path: string) => {
  if (path === '/none') return '';
  const { url, connectionString, dsnString } = secrets.brokers;
  const forms = { AMQP_URL: url, POSTGRES_CONNECTION_STRING: connectionString, MYSQL_DSN_STRING: dsnString };
  return Object.entries(forms).find(([part]) => path.includes(part))?.[1] ?? 'password';
};

describe('targets of a tenant', () => {
  it('are settings and files of its server', async () => {
    await expect(stringify(server(all, [], secrets), { singleQuote: true })).toMatchFileSnapshot(
      'golden/server-targets.yaml',
    );
  });

  it('are read by the server, each under its name', () => {
    const env = {
      ...environmentOf(server(all, [], secrets)),
      SVC_ROOT_USER_FILE: undefined,
      SVC_ROOT_PASSWORD_FILE: undefined,
      SVC_ROOT_USER: 'root',
      SVC_ROOT_PASSWORD: 'root-password',
      SVC_CONFIG_ENV_FILE: '/none',
    };
    const settings = loadSettings({ env, readFile });
    expect(settings.notify.targets.map(({ id, type }) => `${id}:${type}`).toSorted()).toEqual([
      'BUILD:webhook',
      'E:elasticsearch',
      'K:kafka',
      'M:mqtt',
      'MY:mysql',
      'P:postgresql',
      'Q:amqp',
      'R:redis',
      'nats_1:nats',
    ]);
    expect(settings.notify.targets.find(({ id }) => id === 'BUILD')?.queueLimit).toBe(5_000);
    expect(settings.audit.webhooks).toMatchObject([{ id: 'SIEM', queueFolder: '/data/audit/SIEM' }]);
  });

  it('have no secret in the workload', () => {
    expect(JSON.stringify(server(all, [], secrets))).not.toMatch(/-value/);
  });

  it('leave keys of a Secret alone that are no keys of the type', () => {
    const more = { siem: { ...secrets.siem, durable: 'true', caBundleFrom: 'x', endpoint: 'y' } };
    const memory = { ...siem, webhook: { endpoint: 'https://siem.example.com' } };
    const plain = environmentOf(of({ auditTargets: [memory] }));
    expect(environmentOf(of({ auditTargets: [memory] }, more))).toEqual(plain);
    expect(plain).not.toHaveProperty('SVC_AUDIT_WEBHOOK_QUEUE_DIR_SIEM');
    expect(environmentOf(of({ auditTargets: [siem] }, more))).toMatchObject({
      SVC_AUDIT_WEBHOOK_QUEUE_DIR_SIEM: '/data/audit/SIEM',
    });
    expect(issue(() => of({ auditTargets: [siem] }, { siem: { durable: 'true' } }))).toMatch(
      /^SecretKeyMissing: .* has none of the keys authToken, tls\.crt, tls\.key \(it has: durable\)/,
    );
  });

  it('need a Secret that is there, allows the use, and has a key of the type', () => {
    const where = 'spec.notificationTargets[BUILD].credentialsSecret of Tenant demo names the Secret';
    expect(issue(() => of({ notificationTargets: [{ ...build, credentialsSecret: { name: 'none' } }] }))).toBe(
      `SecretNotFound: ${where} none, which does not exist`,
    );
    expect(issue(() => of({ notificationTargets: [build] }, { build: { password: 'x' } }))).toBe(
      `SecretKeyMissing: ${where} build, which has none of the keys authToken, tls.crt, tls.key (it has: password)`,
    );
    const unlabelled = context(secrets);
    const uses = new Set(['audit'] as const);
    const limited = {
      ...unlabelled,
      secrets: new Map([...unlabelled.secrets].map(([name, one]) => [name, { ...one, uses }])),
    };
    expect(issue(() => renderTargets(tenant({ notificationTargets: [build] }), limited))).toBe(
      `SecretNotAllowed: ${where} build; its owner must allow it: kubectl label secret build coffer.dev/use-notification=true`,
    );
    expect(issue(() => renderTargets(tenant({ auditTargets: [siem] }), limited))).toBe('none');
    const amqp = { id: 'Q', credentialsSecret: { name: 'brokers' }, amqp: {} };
    expect(issue(() => of({ notificationTargets: [amqp] }, { brokers: { password: 'x' } }))).toMatch(
      /^SecretKeyMissing: .* names the key url of the Secret brokers, which has no such key/,
    );
  });

  it.each([
    [
      'a user without a password',
      { id: 'K', kafka: { brokers: 'a:1', topic: 't', saslUsername: 'a' } },
      'saslUsername and saslPassword',
    ],
    [
      'a certificate without its key',
      { id: 'B', credentialsSecret: { name: 'half' }, webhook: hook },
      'tls.crt and tls.key',
    ],
    [
      'a password without a user',
      { id: 'E', credentialsSecret: { name: 'brokers' }, elasticsearch: { url: 'https://a', index: 'i' } },
      'username and password',
    ],
  ])('refuse %s', (_, target, names) => {
    expect(issue(() => of({ notificationTargets: [target] }, { half: { 'tls.crt': pem } }))).toBe(
      `InvalidSettings: spec.notificationTargets[${target.id}] of Tenant demo: ${names} belong together, ` +
        'as fields or keys of its Secret: set both, or neither',
    );
  });

  it('exclude their own settings among the others', () => {
    const settings = [{ name: 'SVC_NOTIFY_WEBHOOK_HTTP_TIMEOUT_BUILD', value: '1s' }];
    expect(issue(() => of({ notificationTargets: [build], settings }))).toBe(
      'InvalidSettings: SVC_NOTIFY_WEBHOOK_HTTP_TIMEOUT_BUILD is made by the operator from other fields of the Tenant',
    );
    const other = [{ name: 'SVC_NOTIFY_WEBHOOK_ENDPOINT_OTHER', value: 'https://other.example.com' }];
    expect(issue(() => of({ notificationTargets: [build], settings: other }))).toBe('none');
  });

  it('restart the server by name when they change, and when a Secret of theirs does', () => {
    const before = of({ notificationTargets: [build], auditTargets: [siem] });
    const faster = { ...build, queueLimit: 5 };
    const reasons = (to: Workload) =>
      restartReasons(before.inputs, to.inputs, before.owner).map(({ reason, field }) => `${reason} ${field}`);
    expect(reasons(of({ notificationTargets: [faster], auditTargets: [siem] }))).toEqual([
      'SettingsChanged spec.notificationTargets[BUILD] of Tenant demo',
    ]);
    expect(reasons(of({ notificationTargets: [build] }))).toContain(
      'SettingsChanged spec.auditTargets[SIEM] of Tenant demo',
    );
    expect(
      reasons(
        of(
          { notificationTargets: [build], auditTargets: [siem] },
          { build: { ...secrets.build, authToken: 'another' } },
        ),
      ),
    ).toEqual(['SecretChanged key authToken of Secret build']);
  });
});

describe('settings of a target', () => {
  it('may have names that begin as others do, and a suffix', () => {
    const settings = [
      { name: 'SVC_NOTIFY_KAFKA_BROKERS_K', value: 'kafka:9092' },
      { name: 'SVC_NOTIFY_KAFKA_TOPIC_K', value: 'events' },
      { name: 'SVC_NOTIFY_KAFKA_SASL_USERNAME_K', value: 'coffer' },
      { name: 'SVC_NOTIFY_KAFKA_SASL_MECHANISM_K', value: 'sha512' },
      {
        name: 'SVC_NOTIFY_KAFKA_SASL_PASSWORD_K',
        valueFrom: { secretKeyRef: { name: 'brokers', key: 'password' } },
      },
    ];
    const names = Object.keys(environmentOf(of({ settings }))).filter((name) => name.startsWith('SVC_NOTIFY_'));
    expect(names).toEqual([
      'SVC_NOTIFY_KAFKA_BROKERS_K',
      'SVC_NOTIFY_KAFKA_SASL_MECHANISM_K',
      'SVC_NOTIFY_KAFKA_SASL_PASSWORD_K_FILE',
      'SVC_NOTIFY_KAFKA_SASL_USERNAME_K',
      'SVC_NOTIFY_KAFKA_TOPIC_K',
    ]);
  });
});
