import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { decryptPayload, encryptPayload } from '../../protocol/admin/admin-payload.ts';
import { peerCaller, uploadToPeer } from './peer-client.ts';

const caller = peerCaller();
const credentials = { accessKey: 'key', secretKey: 'secret-key' };
const answer = z.object({ told: z.string() });
let server: Server | undefined;

afterEach(async () => {
  caller.close();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
  server = undefined;
});

/** A site that answers so. */
async function siteThat(listener: RequestListener) {
  const listening = createServer(listener);
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return { name: 'b', endpoint: `http://127.0.0.1:${(listening.address() as AddressInfo).port}` };
}

describe('a call of another site', () => {
  it('is signed, and encrypts bodies and answers that have secrets', async () => {
    const seen: string[] = [];
    const answered = async (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const sent = Buffer.concat(chunks);
      seen.push(request.url ?? '', request.headers.authorization ?? '');
      if (request.url?.includes('join') === true) {
        return response.end((await decryptPayload(credentials.secretKey, sent)).toString());
      }
      return response.end(await encryptPayload(credentials.secretKey, sent));
    };
    const site = await siteThat((request, response) => void answered(request, response));
    const body = { told: 'a secret' };
    const join = { method: 'PUT', call: 'join', body, sealed: 'body', answer } as const;
    expect(await caller.call(site, credentials, join)).toEqual(body);
    const items = { method: 'PUT', call: 'items', query: { a: 'b c' }, body, sealed: 'answer', answer } as const;
    expect(await caller.call(site, credentials, items)).toEqual(body);
    expect(seen[0]).toBe('/minio/admin/v3/site-replication/peer/join');
    expect(seen[1]).toContain('Credential=key/');
    expect(seen[2]).toContain('items?a=b%20c');
  });

  it.each([
    [403, '{"Code":"AccessDenied","Message":"no"}', 'refused', 'the site b (http://'],
    [404, '<html>', 'no-coffer', 'sites replicate between Coffer servers only'],
    [501, '{"Code":"NotImplemented"}', 'no-coffer', 'sites replicate between Coffer servers only'],
    [200, '{"other":1}', 'no-coffer', 'sites replicate between Coffer servers only'],
    [200, 'text', 'no-coffer', 'sites replicate between Coffer servers only'],
  ])('says what an answer %i %s means', async (status, text, code, message) => {
    const site = await siteThat((_request, response) => response.writeHead(status).end(text));
    const failure = caller.call(site, credentials, { method: 'GET', call: 'describe', answer });
    await expect(failure).rejects.toMatchObject({ code, message: expect.stringContaining(message) as string });
  });

  it('says that a site is away', async () => {
    const site = await siteThat((request) => request.socket.destroy());
    const failure = caller.call(site, credentials, { method: 'GET', call: 'describe', answer });
    await expect(failure).rejects.toMatchObject({ code: 'away' });
  });
});

describe('an upload to another site', () => {
  const options = { durationMs: 50, signal: new AbortController().signal };

  it('is signed, and counts what the site has read', async () => {
    let read = 0;
    const heads: IncomingMessage[] = [];
    const site = await siteThat((request, response) => {
      heads.push(request);
      request.on('data', (chunk: Buffer) => {
        read += chunk.length;
      });
      request.on('end', () => response.end());
    });
    const { bytes, ms } = await uploadToPeer(site, credentials, options);
    expect(bytes).toBe(read);
    expect(bytes).toBeGreaterThan(0);
    expect(ms).toBeGreaterThanOrEqual(50);
    expect(heads[0]?.url).toBe('/minio/admin/v3/site-replication/peer/devnull');
    expect(heads[0]?.headers).toMatchObject({
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      authorization: expect.stringContaining('Credential=key/') as string,
    });
  });

  it('sends a first chunk when its time is over before it begins', async () => {
    const site = await siteThat((request, response) => request.on('end', () => response.end()).resume());
    const { bytes } = await uploadToPeer(site, credentials, { ...options, durationMs: 0 });
    expect(bytes).toBeGreaterThan(0);
  });

  it('ends with the refusal of the site, without waiting for its time', async () => {
    const site = await siteThat((_request, response) => response.writeHead(403).end());
    const sent = uploadToPeer(site, credentials, { ...options, durationMs: 600_000 });
    await expect(sent).rejects.toMatchObject({ name: 'ResponseError' });
  });

  it('ends with the caller', async () => {
    const stopping = new AbortController();
    const site = await siteThat((request) => {
      request.once('data', () => stopping.abort(new Error('the client has gone')));
    });
    const sent = uploadToPeer(site, credentials, { durationMs: 600_000, signal: stopping.signal });
    await expect(sent).rejects.toThrow('the client has gone');
  });
});
