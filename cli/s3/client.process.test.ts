import { createServer, Agent, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Alias } from '../config/aliases.ts';
import { createBucket, headBucket } from './buckets.ts';
import { S3Client } from './client.ts';
import { isNotFound } from './error-of-status.ts';
import { listObjects } from './list-objects.ts';
import { completeUpload } from './multipart-upload.ts';
import { headObject, readObject } from './objects.ts';
import type { Retries } from './retry.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void;

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const impatient: Retries = { attempts: 3, wait: async () => undefined };

/** Makes a client of a server with the handler of the test. */
async function clientOf(handler: Handler, trace?: (line: string) => void): Promise<S3Client> {
  let count = 0;
  const server: Server = createServer((request, response) => {
    count += 1;
    handler(request, response, count);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const alias: Alias = {
    url: `http://127.0.0.1:${port}`,
    accessKey: 'access',
    secretKey: 'secret-key',
    sessionToken: 'session-token',
    api: 'S3v4',
    path: 'auto',
  };
  const agent = new Agent({ keepAlive: true });
  const client = new S3Client({ alias, agent, signal: new AbortController().signal, retries: impatient, trace });
  cleanups.push(() => client.close());
  return client;
}

function refuse(response: ServerResponse, status: number, code: string, more = ''): void {
  response.writeHead(status).end(`<Error><Code>${code}</Code><Message>No.</Message>${more}</Error>`);
}

async function read(source: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(source)).toString();
}

function body(request: IncomingMessage): Promise<string> {
  return read(request);
}

describe('an object', () => {
  const at = { bucket: 'b', key: 'k' };

  it('is not missing on the 404 of a proxy', async () => {
    const client = await clientOf((_, response) => response.writeHead(404).end('<html>nothing here</html>'));
    const error: unknown = await headObject(client, at).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ status: 404, code: 'Http404' });
    expect(isNotFound(error)).toBe(false);
    await expect(headBucket(client, 'b')).rejects.toMatchObject({ code: 'Http404' });
  });

  it('is missing where the document of a GET says so, of a server whose HEAD has no mark', async () => {
    const client = await clientOf(({ method }, response) =>
      method === 'HEAD' ? response.writeHead(404).end() : refuse(response, 404, 'NoSuchKey'),
    );
    const error: unknown = await headObject(client, at).catch((caught: unknown) => caught);
    expect(isNotFound(error)).toBe(true);
  });

  it('is missing where a header marks the answer to HEAD as that of an S3', async () => {
    const client = await clientOf((_, response) => response.writeHead(404, { 'x-amz-request-id': '1' }).end());
    const error: unknown = await headObject(client, at).catch((caught: unknown) => caught);
    expect(isNotFound(error)).toBe(true);
  });
});

describe('a request', () => {
  it('is sent again when the server is not ready', async () => {
    const client = await clientOf((_, response, count) =>
      count < 3 ? refuse(response, 503, 'SlowDown') : response.end('good'),
    );
    expect((await client.text({ method: 'GET' })).text).toBe('good');
  });

  it('is sent again when the connection breaks, amid the answer too', async () => {
    const client = await clientOf((_, response, count) => {
      if (count === 1) response.destroy();
      else if (count === 2) response.writeHead(200, { 'content-length': 10 }).write('bad', () => response.destroy());
      else response.end('good');
    });
    expect((await client.text({ method: 'GET' })).text).toBe('good');
  });

  it('is given up after some attempts', async () => {
    let sent = 0;
    const client = await clientOf((_, response, count) => {
      sent = count;
      refuse(response, 500, 'InternalError');
    });
    await expect(client.text({ method: 'GET' })).rejects.toMatchObject({
      status: 500,
      code: 'InternalError',
      attempts: 3,
    });
    expect(sent).toBe(3);
  });

  it('is not sent again when it is refused for good', async () => {
    let sent = 0;
    const client = await clientOf((_, response, count) => {
      sent = count;
      refuse(response, 403, 'AccessDenied');
    });
    await expect(client.text({ method: 'GET' })).rejects.toMatchObject({ code: 'AccessDenied' });
    expect(sent).toBe(1);
  });

  it('is signed for the region that the server names', async () => {
    const client = await clientOf((request, response) => {
      if (String(request.headers.authorization).includes('/eu-west-1/s3/')) response.end('good');
      else refuse(response, 400, 'AuthorizationHeaderMalformed', '<Region>eu-west-1</Region>');
    });
    expect((await client.text({ method: 'GET', bucket: 'bucket' })).text).toBe('good');
  });

  it('carries keys as they are', async () => {
    const client = await clientOf((request, response) => response.end(request.url));
    const { text } = await client.text({
      method: 'GET',
      bucket: 'bucket',
      key: '../a b//ü+%',
      query: { prefix: 'x y&', acl: '' },
    });
    expect(text).toBe('/bucket/../a%20b//%C3%BC%2B%25?prefix=x%20y%26&acl=');
  });

  it('says what a proxy answered, where that is no error of S3', async () => {
    const client = await clientOf((_, response) => response.writeHead(404).end('<html>nothing here</html>'));
    await expect(client.text({ method: 'GET' })).rejects.toMatchObject({ status: 404, code: 'Http404' });
  });

  it('shows no secret in its trace', async () => {
    const lines: string[] = [];
    const client = await clientOf(
      (_, response) => response.end(),
      (line) => lines.push(line),
    );
    await client.text({ method: 'GET', bucket: 'bucket' });
    expect(lines.join('\n')).toContain('GET /bucket/');
    expect(lines.join('\n')).not.toMatch(/secret-key|session-token|Signature=[0-9a-f]|Credential=access/);
  });
});

async function* chunks(count: number, chunk: Buffer): AsyncGenerator<Buffer> {
  for (let index = 0; index < count; index += 1) yield chunk;
}

async function* broken(): AsyncGenerator<Buffer> {
  yield Buffer.from('abc');
  throw Object.assign(new Error('the disk is broken'), { code: 'EIO' });
}

describe('a streamed body', () => {
  it('is read anew for each attempt', async () => {
    let opened = 0;
    const client = await clientOf((request, response, count) => {
      request.resume().on('end', () => (count === 1 ? refuse(response, 503, 'SlowDown') : response.end()));
    });
    const open = () => {
      opened += 1;
      return chunks(2, Buffer.from('abc'));
    };
    await client.text({ method: 'PUT', bucket: 'bucket', key: 'k', body: { size: 6, open } });
    expect(opened).toBe(2);
  });

  it('is no longer sent once the server has refused it', async () => {
    let taken = 0;
    const client = await clientOf((_, response) => refuse(response, 403, 'AccessDenied'));
    const size = 1_024 * 1_048_576;
    const open = async function* () {
      for await (const chunk of chunks(1_024, Buffer.alloc(1_048_576))) {
        taken += 1;
        yield chunk;
      }
    };
    await expect(
      client.text({ method: 'PUT', bucket: 'bucket', key: 'k', body: { size, open } }),
    ).rejects.toMatchObject({
      code: 'AccessDenied',
    });
    expect(taken).toBeLessThan(100);
  });

  it('that cannot be read is the reason that is told', async () => {
    const client = await clientOf((request) => request.resume());
    const put = client.text({ method: 'PUT', bucket: 'bucket', key: 'k', body: { size: 6, open: broken } });
    await expect(put).rejects.toThrow('the disk is broken');
  });
});

describe('reading an object', () => {
  const range = { bucket: 'bucket', key: 'k', etag: 'e', start: 0, end: 6 };

  it('goes on where the connection broke, with the same content', async () => {
    const seen: unknown[] = [];
    const client = await clientOf((request, response, count) => {
      seen.push([request.headers.range, request.headers['if-match']]);
      response.writeHead(206, { 'content-length': count === 1 ? 6 : 4 });
      if (count === 1) response.write('ab', () => setTimeout(() => response.destroy(), 20));
      else response.end('cdef');
    });
    expect(await read(readObject(client, range))).toBe('abcdef');
    expect(seen).toEqual([
      ['bytes=0-5', '"e"'],
      ['bytes=2-5', '"e"'],
    ]);
  });

  it('ends when the content has changed meanwhile', async () => {
    const client = await clientOf((_, response, count) => {
      if (count === 1) response.writeHead(206, { 'content-length': 6 }).write('ab', () => response.destroy());
      else refuse(response, 412, 'PreconditionFailed');
    });
    await expect(read(readObject(client, range))).rejects.toMatchObject({ code: 'PreconditionFailed' });
  });

  it('gives up when answers end too early again and again', async () => {
    let asked = 0;
    const client = await clientOf((_, response) => {
      asked += 1;
      response.writeHead(206).end();
    });
    await expect(read(readObject(client, range))).rejects.toThrow();
    expect(asked).toBe(6);
  });

  it('does not take a whole object for its rest', async () => {
    const client = await clientOf((_, response, count) => {
      if (count === 1)
        response.writeHead(206, { 'content-length': 6 }).write('ab', () => setTimeout(() => response.destroy(), 20));
      else response.writeHead(200).end('abcdef');
    });
    await expect(read(readObject(client, range))).rejects.toThrow('ranges');
  });
});

describe('an answer that was lost', () => {
  it('does not make a bucket that was made fail', async () => {
    const client = await clientOf((_, response, count) =>
      count === 1 ? response.destroy() : refuse(response, 409, 'BucketAlreadyOwnedByYou'),
    );
    await createBucket(client, 'bucket');
  });

  it('does not make an upload that was completed fail', async () => {
    const client = await clientOf((request, response, count) => {
      if (request.method === 'HEAD') response.writeHead(200, { etag: '"abc-1"', 'content-length': 5 }).end();
      else if (count === 1) response.destroy();
      else refuse(response, 404, 'NoSuchUpload');
    });
    const upload = { bucket: 'bucket', key: 'k', uploadId: 'u' };
    expect(await completeUpload(client, upload, [{ partNumber: 1, etag: 'a' }], 5)).toBe('abc-1');
  });

  it('is told from an upload that failed', async () => {
    const client = await clientOf((_, response) => {
      response.end('<Error><Code>InternalError</Code><Message>Late.</Message></Error>');
    });
    const upload = { bucket: 'bucket', key: 'k', uploadId: 'u' };
    await expect(completeUpload(client, upload, [{ partNumber: 1, etag: 'a' }], 5)).rejects.toMatchObject({
      code: 'InternalError',
    });
  });
});

it('lists page after page', async () => {
  const tokens: (string | null)[] = [];
  const client = await clientOf((request, response) => {
    const token = new URL(request.url ?? '', 'http://h').searchParams.get('continuation-token');
    tokens.push(token);
    const [key, next] =
      token === null ? ['a%2Bb+c', '<NextContinuationToken>t&amp;</NextContinuationToken>'] : ['z', ''];
    response.end(
      `<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${next !== ''}</IsTruncated>${next}` +
        `<Contents><Key>${key}</Key><Size>1</Size><ETag>"e"</ETag></Contents></ListBucketResult>`,
    );
  });
  const pages = await Array.fromAsync(listObjects(client, { bucket: 'bucket', prefix: '', recursive: true }));
  expect(pages.flat().map((one) => (typeof one === 'string' ? one : one.key))).toEqual(['a+b c', 'z']);
  expect(tokens).toEqual([null, 't&']);
});

it('sends a body in memory with its hash', async () => {
  const client = await clientOf((request, response) => {
    void body(request).then((text) => response.end(`${text} ${String(request.headers['x-amz-content-sha256'])}`));
  });
  const { text } = await client.text({ method: 'PUT', bucket: 'bucket', key: 'k', body: Buffer.from('hello') });
  expect(text).toBe('hello 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824');
});
