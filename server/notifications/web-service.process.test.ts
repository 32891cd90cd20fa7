import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { openWebService, type WebService } from './web-service.ts';

let server: Server | undefined;
let service: WebService | undefined;

afterEach(async () => {
  await service?.close();
  server?.close();
  server?.closeAllConnections();
});

async function listening(made: Server): Promise<string> {
  server = made;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function answeredBy(listener: RequestListener, { path = '/events', ms = 2_000 } = {}) {
  service = openWebService(`http://${await listening(createServer(listener))}${path}`, {}, ms);
  return service;
}

const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' } as const;

describe('a web service', () => {
  it('gets the requests over kept connections', async () => {
    const sockets = new Set<Socket>();
    const got: unknown[] = [];
    const { request } = await answeredBy(
      ({ socket, method, url, headers }, response) => {
        sockets.add(socket);
        got.push([method, url, headers.authorization, headers['content-length']]);
        response.end('taken');
      },
      { path: '/events?source=a' },
    );
    for (let at = 0; at < 5; at += 1) expect(await request(post)).toMatchObject({ status: 200, text: 'taken' });
    // The next request may begin before the connection is free again.
    expect(sockets.size).toBeLessThan(3);
    expect(got[0]).toEqual(['POST', '/events?source=a', undefined, '2']);
  });

  it('gets the account of its address', async () => {
    let authorization: string | undefined;
    const address = await listening(
      createServer(({ headers }, response) => {
        ({ authorization } = headers);
        response.end();
      }),
    );
    service = openWebService(`http://user:p%40ss@${address}/`, {}, 2_000);
    await service.request(post);
    expect(authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
  });

  it('is not followed elsewhere', async () => {
    const { request } = await answeredBy((_request, response) => response.writeHead(307, { location: '/b' }).end());
    expect(await request(post)).toMatchObject({ status: 307 });
  });

  it('that comes late is an error', async () => {
    const { request } = await answeredBy(() => undefined, { ms: 50 });
    await expect(request(post)).rejects.toThrow('it did not answer within 50 ms');
  });

  it.each<[string, string, RequestListener]>([
    ['is longer than the limit', 'a'.repeat(65_536), (_request, response) => response.end('a'.repeat(70_000))],
    ['never ends', 'a', (_request, response) => void response.writeHead(200).write('a')],
    [
      'breaks off',
      'a',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '9' }).write('a', () => setTimeout(() => response.destroy(), 20));
      },
    ],
  ])('that %s is what its status says, with the text until then', async (_what, text, listener) => {
    const { request } = await answeredBy(listener, { ms: 1_000 });
    expect(await request(post)).toMatchObject({ status: 200, text });
    expect(await request(post)).toMatchObject({ status: 200 });
  });

  it('comes back after its connections were cut', async () => {
    let cut = true;
    const { request } = await answeredBy((_request, response) => {
      if (cut) response.destroy();
      else response.end();
    });
    await expect(request(post)).rejects.toThrow();
    cut = false;
    expect(await request(post)).toMatchObject({ status: 200 });
  });

  it('proves its certificate', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'coffer-web-'));
    const validForMs = 60 * 60_000;
    const issuer = await makeCa({ commonName: 'own', validForMs });
    const named = { commonName: 'web', ipAddresses: ['127.0.0.1'], validForMs, issuer };
    const { certPem, keyPem } = await issueCertificate(named);
    const caFile = join(folder, 'ca.pem');
    await writeFile(caFile, issuer.certPem);
    const address = await listening(
      createTlsServer({ cert: certPem, key: keyPem }, (_request, response) => response.end()),
    );
    service = openWebService(`https://${address}/`, {}, 2_000);
    await expect(service.request(post)).rejects.toThrow(/certificate/);
    await service.close();
    service = openWebService(`https://${address}/`, { ca_file: caFile }, 2_000);
    expect(await service.request(post)).toMatchObject({ status: 200 });
    await rm(folder, { recursive: true });
  });
});
