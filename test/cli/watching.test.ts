import { createServer, request as sendRequest, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedServer } from '../support/server/shared-server.ts';
import { ClientDriver } from './client-driver.ts';

const polling = { timeout: 90_000, interval: 100 };
const client = new ClientDriver();
/** The same server under another name: two aliases are two servers for the client. */
const other = 't';
let events: EventProxy;
let proxy: string;

/** Passes requests on to a server, and tells of what they change, as MinIO does. */
class EventProxy {
  readonly #target: URL;
  readonly #listeners = new Map<ServerResponse, URLSearchParams & { bucket?: string }>();
  readonly #server: Server;

  constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://proxy');
      if (url.searchParams.has('events')) {
        this.#listeners.set(response, Object.assign(url.searchParams, { bucket: url.pathname.split('/')[1] }));
        response.on('close', () => this.#listeners.delete(response));
        // A server that sends no header before the first event.
        return;
      }
      const { method = 'GET', headers } = request;
      const { hostname, port } = this.#target;
      const passed = sendRequest({ hostname, port, method, path: request.url, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
        const isDone = (answer.statusCode ?? 500) < 300;
        if (isDone && ['PUT', 'DELETE'].includes(method)) answer.on('end', () => this.#tell(method, url.pathname));
      });
      passed.on('error', () => response.destroy());
      request.pipe(passed);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends the streams of events. */
  breakOff(): void {
    for (const response of this.#listeners.keys()) response.destroy();
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #tell(method: string, path: string): void {
    const [, bucket = '', ...rest] = path.split('/');
    const key = decodeURIComponent(rest.join('/'));
    if (key === '') return;
    const record = {
      eventName: method === 'PUT' ? 's3:ObjectCreated:Put' : 's3:ObjectRemoved:Delete',
      s3: { bucket: { name: bucket }, object: { key } },
    };
    for (const [response, query] of this.#listeners) {
      if (query.bucket !== bucket || !key.startsWith(query.get('prefix') ?? '')) continue;
      response.write(`${JSON.stringify({ Records: null })}\n \n${JSON.stringify({ Records: [record] })}\n`);
    }
  }
}

beforeAll(async () => {
  await client.start(async () => {
    const { s3, accessKey, secretKey } = await sharedServer();
    events = new EventProxy(s3);
    proxy = await events.listen();
    return { url: s3, accessKey, secretKey, stop: () => Promise.resolve(events.close()) };
  });
  const { url, accessKey, secretKey } = client.server;
  await client.attempt('alias', 'set', other, url, accessKey, secretKey);
}, 180_000);

afterAll(async () => client.stop());

describe('a Coffer that tells of changes', { timeout: 360_000 }, () => {
  it('is mirrored to a folder while it changes', async () => {
    await client.run('mb', 's/watched');
    await client.run('cp', await client.file('one', '1'), 's/watched/p/one');
    const target = client.path('down');
    const files = async (): Promise<string[]> =>
      (await readdir(target).catch(() => [])).toSorted((a, b) => (a < b ? -1 : 1));
    await client.follow(
      ['mirror', '--watch', 's/watched/p', target],
      [
        async () => expect.poll(files, polling).toEqual(['one']),
        async () => {
          await client.run('cp', await client.file('two', '22'), 's/watched/p/zwei +ü%20');
          await client.run('cp', await client.file('two', '22'), 's/watched/elsewhere');
          await expect.poll(files, polling).toEqual(['one', 'zwei +ü%20']);
        },
        async () => {
          await client.run('rm', 's/watched/p/one');
          await expect.poll(files, polling).toEqual(['zwei +ü%20']);
        },
      ],
    );
  });

  it('is compared again where the events break off', async () => {
    const { accessKey, secretKey } = client.server;
    await client.attempt('alias', 'set', 'proxy', proxy, accessKey, secretKey);
    await client.run('mb', 's/broken');
    await client.run('cp', await client.file('one', '1'), 's/broken/one');
    const target = client.path('broken');
    const files = async (): Promise<string[]> =>
      (await readdir(target).catch(() => [])).toSorted((a, b) => (a < b ? -1 : 1));
    const { stderr } = await client.follow(
      ['mirror', '--watch', 'proxy/broken', target],
      [
        async () => expect.poll(files, polling).toEqual(['one']),
        async () => {
          events.breakOff();
          await client.run('cp', client.path('one'), 's/broken/two');
          await expect.poll(files, polling).toEqual(['one', 'two']);
        },
      ],
    );
    expect(stderr).toContain('everything is compared again');
  });

  it('is searched while it changes', async () => {
    await client.run('mb', 's/searched');
    await client.run('cp', await client.file('a.txt', '1'), 's/searched/a.txt');
    const marks = client.path('marks');
    await mkdir(marks);
    const seen = async (): Promise<string[]> => (await readdir(marks)).toSorted((a, b) => (a < b ? -1 : 1));
    const command = `touch ${marks}/{base}`;
    await client.follow(
      ['find', 's/searched', '--watch', '--name', '*.txt', '--exec', command],
      [
        async () => expect.poll(seen, polling).toEqual(['a.txt']),
        async () => {
          for (const name of ['b.txt', 'c.bin', 'd.txt'])
            await client.run('cp', client.path('a.txt'), `s/searched/${name}`);
          await expect.poll(seen, polling).toEqual(['a.txt', 'b.txt', 'd.txt']);
        },
      ],
    );
  });

  it('mirrors in both directions, and the newest object wins', async () => {
    const [one, two] = ['s/first', `${other}/second`];
    await client.run('mb', one, two);
    await client.run('cp', await client.file('from-one', '1'), `${one}/from-one`);
    const contents = async (place: string, key: string): Promise<string> =>
      (await client.attempt('cat', `${place}/${key}`)).stdout.toString();
    const back = client.follow(
      ['mirror', '--active-active', two, one],
      [async () => expect.poll(async () => client.keys(one), polling).toEqual(['from-two'])],
    );
    await client.follow(
      ['mirror', '--active-active', one, two],
      [
        async () => expect.poll(async () => contents(two, 'from-one'), polling).toBe('1'),
        async () => client.run('cp', await client.file('from-two', '2'), `${two}/from-two`),
        async () => expect.poll(async () => contents(one, 'from-two'), polling).toBe('2'),
        async () => client.run('cp', await client.file('from-one', 'changed'), `${one}/from-one`),
        async () => expect.poll(async () => contents(two, 'from-one'), polling).toBe('changed'),
        // Removed on the other side than it was made.
        async () => client.run('rm', `${two}/from-one`),
        async () => expect.poll(async () => client.keys(one), polling).toEqual(['from-two']),
        async () => back,
      ],
    );
    const [stat] = await client.json('stat', `${one}/from-two`);
    expect(stat).toMatchObject({ metadata: { 'X-Amz-Meta-Mm-Source-Mtime': expect.stringMatching(/^\d{4}-.*Z$/) } });
  });
});
