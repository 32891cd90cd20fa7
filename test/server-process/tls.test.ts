import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeCa } from '../../platform/tls/issue-certificate.ts';
import { issue, writePair } from '../support/server/keysvc-process.ts';
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

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-tls-'));
  await install('first');
  server = await startServer({ args: ['--certs-dir', certs()] });
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
