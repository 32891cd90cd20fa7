import { ProgramError } from '../errors/program-error.ts';
import { describe, expect, it } from 'vitest';
import { loadSettings } from './load-settings.ts';

const load = (env: Record<string, string>, files: Record<string, string> = {}) =>
  loadSettings({
    env: { SVC_ROOT_USER: 'root', SVC_ROOT_PASSWORD: 'root-password', SVC_CONFIG_ENV_FILE: '/env', ...env },
    readFile: (path) => (path === '/env' ? '' : (files[path] ?? '')),
  });

function problems(env: Record<string, string>): readonly string[] {
  try {
    load(env);
    return [];
  } catch (error) {
    return error instanceof ProgramError ? error.message.split('\n') : [String(error)];
  }
}

describe('where audit entries go', () => {
  it('is nowhere without settings', () => {
    expect(load({}).audit).toEqual({ webhooks: [] });
  });

  it('is told to administrators by the variables that were set, without the token', () => {
    const { given } = load({
      MINIO_AUDIT_WEBHOOK_ENDPOINT_SIEM: 'https://siem.example.org/',
      SVC_AUDIT_WEBHOOK_AUTH_TOKEN_SIEM: 'Bearer abc',
      MINIO_AUDIT_WEBHOOK_ENDPOINT: 'https://other.example.org/',
    });
    expect(Object.fromEntries([...given].filter(([name]) => name.includes('AUDIT')))).toEqual({
      SVC_AUDIT_WEBHOOK_ENDPOINT: {
        variable: 'MINIO_AUDIT_WEBHOOK_ENDPOINT',
        value: 'https://other.example.org/',
      },
      SVC_AUDIT_WEBHOOK_ENDPOINT_SIEM: {
        variable: 'MINIO_AUDIT_WEBHOOK_ENDPOINT_SIEM',
        value: 'https://siem.example.org/',
      },
      SVC_AUDIT_WEBHOOK_AUTH_TOKEN_SIEM: { variable: 'SVC_AUDIT_WEBHOOK_AUTH_TOKEN_SIEM', value: undefined },
    });
  });

  it('is an address by the names of MinIO, with what MinIO assumes', () => {
    const { audit, warnings } = load({
      MINIO_AUDIT_WEBHOOK_ENABLE_SIEM: 'on',
      MINIO_AUDIT_WEBHOOK_ENDPOINT_SIEM: 'https://siem.example.org/coffer',
      MINIO_AUDIT_WEBHOOK_AUTH_TOKEN_SIEM: 'Bearer abc',
      MINIO_AUDIT_WEBHOOK_CLIENT_CERT_SIEM: '/c.crt',
      MINIO_AUDIT_WEBHOOK_CLIENT_KEY_SIEM: '/c.key',
      MINIO_AUDIT_WEBHOOK_QUEUE_DIR_SIEM: '/queue',
      MINIO_AUDIT_WEBHOOK_QUEUE_SIZE_SIEM: '100000',
      MINIO_AUDIT_WEBHOOK_BATCH_SIZE_SIEM: '50',
      MINIO_AUDIT_WEBHOOK_MAX_RETRY_SIEM: '3',
      MINIO_AUDIT_WEBHOOK_RETRY_INTERVAL_SIEM: '1s',
      MINIO_AUDIT_WEBHOOK_HTTP_TIMEOUT_SIEM: '10s',
    });
    expect(audit.webhooks).toEqual([
      {
        id: 'SIEM',
        endpoint: 'https://siem.example.org/coffer',
        authToken: 'Bearer abc',
        clientCertificate: { certFile: '/c.crt', keyFile: '/c.key' },
        queueFolder: '/queue',
        queueSize: 100_000,
        batchSize: 50,
        maxRetries: 3,
        retryMs: 1_000,
        timeoutMs: 10_000,
      },
    ]);
    expect(warnings).toEqual([]);
  });

  it('is several addresses, one of them without a name', () => {
    const { webhooks } = load({
      SVC_AUDIT_WEBHOOK_ENDPOINT: 'http://a.example.org',
      SVC_AUDIT_WEBHOOK_ENDPOINT_B: 'http://b.example.org',
      SVC_AUDIT_WEBHOOK_ENDPOINT_C: 'http://c.example.org',
      SVC_AUDIT_WEBHOOK_ENABLE_C: 'off',
    }).audit;
    expect(
      webhooks.map(({ id, batchSize, queueSize, maxRetries, retryMs, timeoutMs }) => [
        id,
        batchSize,
        queueSize,
        maxRetries,
        retryMs,
        timeoutMs,
      ]),
    ).toEqual([
      ['_', 1, 10_000, 0, 3_000, 5_000],
      ['B', 1, 10_000, 0, 3_000, 5_000],
    ]);
  });

  it('takes the token from a file', () => {
    const env = {
      SVC_AUDIT_WEBHOOK_ENDPOINT_B: 'http://b.example.org',
      SVC_AUDIT_WEBHOOK_AUTH_TOKEN_B_FILE: '/token',
    };
    expect(load(env, { '/token': 'Bearer abc\n' }).audit.webhooks[0]?.authToken).toBe('Bearer abc');
  });

  it('is a file', () => {
    expect(load({ SVC_AUDIT_FILE: '/var/log/coffer/audit.log' }).audit.file).toBe('/var/log/coffer/audit.log');
  });

  it('says what is missing', () => {
    expect(problems({ SVC_AUDIT_WEBHOOK_ENABLE_B: 'on' })).toEqual([
      'SVC_AUDIT_WEBHOOK_ENDPOINT_B is missing: audit entries of B have nowhere to go',
    ]);
  });

  it('wants certificate and key together', () => {
    const env = { SVC_AUDIT_WEBHOOK_ENDPOINT: 'http://a.example.org', SVC_AUDIT_WEBHOOK_CLIENT_CERT: '/c.crt' };
    expect(problems(env)).toEqual([
      expect.stringMatching(/CLIENT_CERT and SVC_AUDIT_WEBHOOK_CLIENT_KEY belong together/),
    ]);
  });

  it('gives no folder to two addresses', () => {
    const env = {
      SVC_AUDIT_WEBHOOK_ENDPOINT_A: 'http://a.example.org',
      SVC_AUDIT_WEBHOOK_QUEUE_DIR_A: '/queue',
      SVC_AUDIT_WEBHOOK_ENDPOINT_B: 'http://b.example.org',
      SVC_AUDIT_WEBHOOK_QUEUE_DIR_B: '/queue',
    };
    expect(problems(env)).toEqual([expect.stringMatching(/\/queue for several targets/)]);
  });
});
