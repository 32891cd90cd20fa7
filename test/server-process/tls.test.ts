import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { CreateBucketCommand, PutBucketPolicyCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeCa } from '../../platform/tls/issue-certificate.ts';
import { issue, writePair } from '../support/server/keysvc-process.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, type RunningServer } from '../support/server/start-server.ts';

let folder: string;
let server: RunningServer;
const certs = () => join(folder, 'certs');

/** Puts a certificate of this name in place, the key first: the pair fits only when both are there. */
async function install(commonName: string): Promise<void> {
  const ca = await makeCa({ commonName: 'test', validForMs: 3_600_000 });
  const { certFile, keyFile } = await writePair(certs(), commonName, await issue(ca, commonName));
  await copyFile(keyFile, join(certs(), 'private.key'));
  await copyFile(certFile, join(certs(), 'public.crt'));
}

/** The name in the certificate that a new connection to this address shows. */
function presented(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const ask = request(`${url}/minio/health/live`, { rejectUnauthorized: false, agent: false }, (answer) => {
      const name = (answer.socket as TLSSocket).getPeerCertificate().subject.CN;
      answer.resume();
      resolve(String(name));
    });
    ask.on('error', reject);
    ask.end();
  });
}

/** The status of a GET without credentials, over this version of TLS. */
function statusOver(version: 'TLSv1.2' | 'TLSv1.3', path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const tls = { rejectUnauthorized: false, agent: false, minVersion: version, maxVersion: version } as const;
    const ask = request(`${server.s3}${path}`, tls, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    ask.on('error', reject);
    ask.end();
  });
}

/** The suite that a request over TLS 1.2 with these suites has, or the code of its error. */
function suiteOf(ciphers: string, address: string): Promise<string> {
  return new Promise((resolve) => {
    const tls = { rejectUnauthorized: false, agent: false, maxVersion: 'TLSv1.2', ciphers } as const;
    const ask = request(`${address}/`, tls, (answer) => {
      answer.resume();
      resolve((answer.socket as TLSSocket).getCipher().name);
    });
    ask.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    ask.end();
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-tls-'));
  await install('first');
  server = await startServer({ args: ['--certs-dir', certs()], console: true });
  await server.untilLogged('"event":"ready"');
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

it('serves S3 and console with the certificate, and takes a new one without a restart', async () => {
  expect(server.s3).toMatch(/^https:/);
  expect(await presented(server.s3)).toBe('first');
  expect(await presented(server.console)).toBe('first');
  await install('second');
  await server.untilLogged('reloaded');
  // Every thread looks for itself; whichever answers must have seen it in the end.
  const seen = async (url: string) => {
    let name = '';
    while (name !== 'second') name = await presented(url);
    return name;
  };
  expect(await seen(server.s3)).toBe('second');
  expect(await seen(server.console)).toBe('second');
});

it('decides by the version of TLS where a policy asks for it', async () => {
  const s3 = s3Client(server, { requestHandler: { httpsAgent: new Agent({ rejectUnauthorized: false }) } });
  const Bucket = 'tls';
  await s3.send(new CreateBucketCommand({ Bucket }));
  await s3.send(new PutObjectCommand({ Bucket, Key: 'key', Body: 'content' }));
  const statement = { Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${Bucket}/*` };
  const older = { Condition: { NumericLessThan: { 's3:TlsVersion': '1.3' } } };
  const Statement = [
    { Effect: 'Allow', ...statement },
    { Effect: 'Deny', ...statement, ...older },
  ];
  await s3.send(new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }));
  expect(await statusOver('TLSv1.3', '/tls/key')).toBe(200);
  expect(await statusOver('TLSv1.2', '/tls/key')).toBe(403);
});

it('takes suites of TLS 1.2 that authenticate what they encrypt, and none with CBC', async () => {
  const cbc =
    'ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES256-SHA384:ECDHE-ECDSA-AES256-SHA384:AES128-SHA:@SECLEVEL=0';
  for (const address of [server.s3, server.console]) {
    expect(await suiteOf(cbc, address)).toBe('EPROTO');
    expect(await suiteOf('ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256', address)).toMatch(/GCM/);
  }
});
