import { createServer, type Server } from 'node:http';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../../platform/http/listen.ts';
import { read, someBlobId } from '../../../test/support/store/blob-store.conformance.ts';
import { AzureBlobStore } from './azure-blob-store.ts';
import { azureFailure } from './azure-errors.ts';

interface Answer {
  readonly status: number;
  /** The code in the header, which each error of Azure has. */
  readonly code?: string;
  readonly body?: string;
}

let server: Server;
let answer: Answer;
let endpoint: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    const { status, code, body } = answer;
    response.writeHead(status, { 'content-type': 'text/html', ...(code !== undefined && { 'x-ms-error-code': code }) });
    response.end(body);
  });
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 }, { setting: '' });
  endpoint = `http://127.0.0.1:${port}/account`;
});
afterAll(() => {
  server.close().closeAllConnections();
});

/** Makes a call of the SDK, and classifies the outcome. */
async function outcome(call: 'GET' | 'HEAD' | 'DELETE', given: Answer): Promise<string> {
  answer = given;
  const credential = new StorageSharedKeyCredential('account', Buffer.from('key').toString('base64'));
  const blob = new BlobServiceClient(endpoint, credential, { retryOptions: { maxTries: 1 } })
    .getContainerClient('cold')
    .getBlockBlobClient('a');
  try {
    if (call === 'GET') await blob.download(0, 10);
    else if (call === 'HEAD') await blob.getProperties();
    else await blob.delete();
    return 'good';
  } catch (error) {
    return azureFailure(error)?.kind ?? `defect: ${String(error)}`;
  }
}

describe('an answer of Azure', () => {
  it.each([
    ['GET', { status: 404, code: 'BlobNotFound' }, 'absent'],
    ['HEAD', { status: 404, code: 'BlobNotFound' }, 'absent'],
    ['GET', { status: 404, code: 'ContainerNotFound' }, 'refused'],
    ['HEAD', { status: 404, code: 'ContainerNotFound' }, 'refused'],
    ['GET', { status: 416, code: 'InvalidRange' }, 'range'],
    ['DELETE', { status: 412, code: 'ConditionNotMet' }, 'condition'],
    ['GET', { status: 403, code: 'AuthenticationFailed' }, 'refused'],
    ['GET', { status: 503, code: 'ServerBusy' }, 'passing'],
  ] as const)('to %s decides by its code: %j is %s', async (call, answer, expected) => {
    expect(await outcome(call, answer)).toBe(expected);
  });
});

it('says where a body is missing', async () => {
  answer = { status: 404, code: 'BlobNotFound' };
  const address = { what: 'the tier COLD', endpoint, container: 'cold', prefix: 'below/', accessTier: '' };
  const key = Buffer.from('key').toString('base64');
  const store = new AzureBlobStore({ ...address, accountName: 'account', accountKey: key });
  const id = someBlobId();
  const place = `(the tier COLD, container cold at ${endpoint}, blob below/${id.slice(-2)}/${id})`;
  for (const end of [0, 1]) await expect(read(store, id, 0, end)).rejects.toThrow(`blob ${id} is missing ${place}`);
});

describe('an answer of a gateway before Azure', () => {
  it.each([302, 400, 401, 403, 404, 405, 408, 409, 412, 413, 416, 421, 425, 429, 500, 502, 503, 504])(
    'says nothing about blobs: %i',
    async (status) => {
      for (const body of ['<html>not found</html>', ''])
        for (const call of ['GET', 'HEAD', 'DELETE'] as const)
          expect([call, body, await outcome(call, { status, body })]).toEqual([call, body, 'passing']);
    },
  );
});
