import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';

const DAY = 86_400_000;
let server: TestPostgres;
let folder: string;
let own: string;
let other: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-tls-'));
  [own, other] = [join(folder, 'own.pem'), join(folder, 'other.pem')];
  const issuer = await makeCa({ commonName: 'own', validForMs: DAY });
  await writeFile(own, issuer.certPem);
  await writeFile(other, (await makeCa({ commonName: 'other', validForMs: DAY })).certPem);
  const certificate = await issueCertificate({ commonName: 'db', dnsNames: ['localhost'], validForMs: DAY, issuer });
  server = await startPostgres({ certificate });
});
afterAll(async () => {
  await server.remove();
  await rm(folder, { recursive: true });
});

async function open(host: string, options: string): Promise<void> {
  const store = await openPostgresRecordStore({
    url: `${server.url.replace('127.0.0.1', host)}?${options}`,
    password: server.password,
    log: pino({ enabled: false }),
    connections: 2,
  });
  try {
    await store.get(Buffer.from('a'));
    const sessions = await server.asSuperuser(
      `select bool_and(ssl) as encrypted from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'coffer'`,
    );
    expect(sessions).toEqual([{ encrypted: true }]);
  } finally {
    await store.close();
  }
}

it('reaches PostgreSQL by TLS, whose certificate and name are verified', async () => {
  await open('localhost', `sslmode=verify-full&sslrootcert=${own}`);
});

it('refuses a certificate of another authority', async () => {
  await expect(open('localhost', `sslmode=verify-full&sslrootcert=${other}`)).rejects.toMatchObject({
    name: 'StoreError',
    message: expect.stringMatching(/certificate/u) as string,
  });
});

it('refuses a certificate of another name, unless only the authority is to be verified', async () => {
  await expect(open('127.0.0.1', `sslmode=verify-full&sslrootcert=${own}`)).rejects.toThrow(/altnames|IP/u);
  await open('127.0.0.1', `sslmode=verify-ca&sslrootcert=${own}`);
});

it('binds the sign-in to the certificate where the address requires it', async () => {
  await open('localhost', `sslmode=verify-full&sslrootcert=${own}&channel_binding=require&require_auth=scram-sha-256`);
});

it('is encrypted by require, whichever server answers', async () => {
  await open('127.0.0.1', 'sslmode=require');
});

it('says so when the server has no TLS', async () => {
  const plain = await startPostgres();
  try {
    const opening = openPostgresRecordStore({
      url: `${plain.url}?sslmode=require`,
      password: plain.password,
      log: pino({ enabled: false }),
    });
    await expect(opening).rejects.toThrow(/offers no TLS/u);
  } finally {
    await plain.remove();
  }
});
