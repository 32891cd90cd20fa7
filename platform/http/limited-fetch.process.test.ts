import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { webcrypto } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../../test/support/openid/openid-provider.ts';
import { discover } from '../openid/discovery.ts';
import { createLimitedFetch } from './limited-fetch.ts';

describe('createLimitedFetch', () => {
  let provider: OpenIdProviderDouble;
  let ca: string;

  beforeAll(async () => {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: 'CN=Test provider',
      keys,
      signingAlgorithm: algorithm,
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }])],
    });
    ca = certificate.toString('pem');
    const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
    provider = await startOpenIdProvider({ tls: { key, cert: ca } });
  });
  afterAll(() => provider.close());

  it('trusts the CA it was given', async () => {
    expect((await discover(provider.configUrl, { ca })).issuer).toBe(provider.issuer);
  });

  it('does not trust a certificate of an unknown CA, and says how to', async () => {
    await expect(discover(provider.configUrl)).rejects.toMatchObject({
      code: 'Unreachable',
      message: expect.stringContaining('CA_FILE') as string,
    });
  });

  it('sends a form and reads status, headers and body', async () => {
    const fetch = createLimitedFetch({ ca });
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'coffer', client_secret: 'no' });
    const answer = await fetch(`${provider.issuer}/protocol/openid-connect/token`, { method: 'POST', body });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'application/json']);
    expect(await answer.json()).toMatchObject({ error: 'invalid_client' });
  });

  it('stops when it is told to', async () => {
    provider.fail('discovery', { kind: 'hang' });
    const signal = AbortSignal.abort(new Error('stopping'));
    await expect(createLimitedFetch({ ca })(provider.configUrl, { signal })).rejects.toThrow('stopping');
  });

  it.each([
    ['each call has one of its own', {}, 2],
    ['calls share one that waits for the next', { keepMs: 60_000 }, 1],
    ['a call has a new one after that time', { keepMs: 50 }, 2],
  ])('keeps no connection longer than it was told: %s', async (_how, options, expected) => {
    let connections = 0;
    let open = 0;
    const server = createServer((_request, response) => response.end('ok')).on('connection', (socket) => {
      connections += 1;
      open += 1;
      socket.on('close', () => (open -= 1));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const fetch = createLimitedFetch(options);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await fetch(url);
    if (expected === 2) await expect.poll(() => open).toBe(0);
    await fetch(url);
    server.close();
    server.closeAllConnections();
    expect(connections).toBe(expected);
  });
});
