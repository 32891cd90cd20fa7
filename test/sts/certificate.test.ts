import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { type RunningServer, startServer } from '../support/server/start-server.ts';

const hour = 3_600_000;
let folder: string;
let server: RunningServer;
let ca: CertificateAndKey;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-certificates-'));
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem'), ca: join(folder, 'clients.pem') };
  const own = await issueCertificate({ commonName: 'server', ipAddresses: ['127.0.0.1'], validForMs: hour });
  ca = await makeCa({ commonName: 'clients', validForMs: hour });
  await writeFile(files.cert, own.certPem);
  await writeFile(files.key, own.keyPem);
  await writeFile(files.ca, ca.certPem);
  server = await startServer({
    env: {
      SVC_TLS_CERT_FILE: files.cert,
      SVC_TLS_KEY_FILE: files.key,
      MINIO_IDENTITY_TLS_ENABLE: 'on',
      SVC_IDENTITY_TLS_CA_FILE: files.ca,
      SVC_THREADS: '1',
    },
  });
  await server.untilLogged('ready');
  while ((await send('/minio/health/ready', 'GET')).status !== 200) continue;
}, 180_000);
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

function send(path: string, method: string, client?: CertificateAndKey): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(server.s3);
  const identity = client === undefined ? {} : { cert: client.certPem, key: client.keyPem };
  // Whom the server is does not matter here.
  const options = { hostname, port, path, method, rejectUnauthorized: false, agent: false, ...identity } as const;
  return new Promise((resolve, reject) => {
    const sent = request(options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

async function assume(client: CertificateAndKey | undefined, more: Record<string, string> = {}) {
  const query = new URLSearchParams({ Action: 'AssumeRoleWithCertificate', Version: '2011-06-15', ...more });
  const { status, text } = await send(`/?${query.toString()}`, 'POST', client);
  const of = (name: string) => new RegExp(`<${name}>([^<]*)<`).exec(text)?.[1] ?? '';
  return {
    status,
    code: of('Code'),
    message: of('Message'),
    expiration: Date.parse(of('Expiration')),
    id: of('AssumeRoleId'),
  };
}

const issued = (changes: Partial<Parameters<typeof issueCertificate>[0]> = {}) =>
  issueCertificate({ commonName: 'readonly', usages: ['client'], validForMs: hour, issuer: ca, ...changes });

describe('AssumeRoleWithCertificate', () => {
  it('gives the policy that the common name names', async () => {
    expect(await assume(await issued())).toMatchObject({ status: 200, id: 'tls:readonly:readonly' });
  });

  it('takes a certificate for every usage as one for clients', async () => {
    expect(await assume(await issued({ usages: ['any'] }))).toMatchObject({ status: 200 });
  });

  it('ends with the certificate at the latest', async () => {
    const { expiration } = await assume(await issued({ validForMs: 20 * 60_000 }), { DurationSeconds: '3600' });
    expect((expiration - Date.now()) / 60_000).toBeLessThanOrEqual(20);
    const short = await assume(await issued(), { DurationSeconds: '900' });
    expect((short.expiration - Date.now()) / 60_000).toBeLessThanOrEqual(15);
  });

  it.each([
    ['no certificate', () => Promise.resolve(undefined), /the client sent none/],
    [
      'one of another authority',
      async () => issued({ issuer: await makeCa({ commonName: 'clients', validForMs: hour }) }),
      /cannot be verified/,
    ],
    [
      'one that signs itself',
      () => issueCertificate({ commonName: 'consoleAdmin', usages: ['client'], validForMs: hour }),
      /cannot be verified/,
    ],
    ['one of a server', () => issued({ usages: ['server'] }), /cannot be verified|extended key usage/],
    [
      'one for every usage of another authority',
      async () => issued({ usages: ['any'], issuer: await makeCa({ commonName: 'clients', validForMs: hour }) }),
      /cannot be verified/,
    ],
    [
      'one for every usage that has ended',
      () => issued({ usages: ['any'], now: new Date(Date.now() - 2 * hour) }),
      /cannot be verified/,
    ],
    ['one for nothing', () => issued({ usages: [] }), /extended key usage|cannot be verified/],
    [
      'one that has ended',
      () => issued({ now: new Date(Date.now() - 2 * hour) }),
      /cannot be verified|was valid until/,
    ],
  ])('refuses %s', async (_, client, message) => {
    const rejected = await assume(await client());
    expect(rejected).toMatchObject({ status: 400, code: 'InvalidClientCertificate' });
    expect(rejected.message).toMatch(message);
  });

  it('refuses a policy that does not exist', async () => {
    expect(await assume(await issued({ commonName: 'gone' }))).toMatchObject({
      status: 400,
      code: 'InvalidParameterValue',
    });
  });

  it('serves all else without one, and with a bad one', async () => {
    expect((await send('/', 'GET')).status).toBe(403);
    const stranger = await issueCertificate({ commonName: 'x', validForMs: hour });
    expect((await send('/minio/health/live', 'GET', stranger)).status).toBe(200);
  });
});
