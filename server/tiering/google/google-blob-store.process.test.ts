import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  describeBlobStore,
  from,
  inPieces,
  listed,
  read,
  someBlobId,
} from '../../../test/support/store/blob-store.conformance.ts';
import { type GoogleDouble, startGoogleDouble } from '../../../test/support/tiering/google-double.ts';
import type { BlobId } from '../../store/blob-store.ts';
import { type GoogleAddress, GoogleBlobStore } from './google-blob-store.ts';
import { accountTokens, parseServiceAccount } from './service-account.ts';

// No test waits for these: a machine that is busy elsewhere answers late.
const timeouts = { answer: 60_000, idle: 60_000, tries: 4, pause: 5 };
const chunk = 8 * 1024 * 1024;
let google: GoogleDouble;
let id: BlobId;

beforeEach(async () => {
  google = await startGoogleDouble();
  id = someBlobId();
});
afterEach(() => google.close());

function open(more: Partial<GoogleAddress> = {}): GoogleBlobStore {
  const account = parseServiceAccount(google.keyFile);
  if (account === undefined) throw new Error('the double has a key of an account');
  const { endpoint } = google;
  const address = { what: 'the tier COLD', endpoint, bucket: 'cold', prefix: 'below/', storageClass: '' };
  return new GoogleBlobStore({ ...address, token: accountTokens(account), ...more }, timeouts);
}

const name = () => `below/${id.slice(-2)}/${id}`;
const object = () => google.objects.get(name());

describeBlobStore('Google Cloud Storage, over the double', {
  open: () => Promise.resolve(open()),
  hidesUnfinished: true,
});

it('says where a body is missing', async () => {
  const place = `(the tier COLD, bucket cold at ${google.endpoint}, key ${name()})`;
  for (const end of [0, 1]) await expect(read(open(), id, 0, end)).rejects.toThrow(`blob ${id} is missing ${place}`);
});

describe('a body at Google', () => {
  const large = randomBytes(2 * chunk + 17);

  it('is sent in chunks, with the storage class of the tier', async () => {
    await open({ storageClass: 'NEARLINE' }).write(id, inPieces(large, 65_536));
    expect(object()).toMatchObject({ storageClass: 'NEARLINE' });
    expect(object()?.bytes.equals(large)).toBe(true);
    expect(google.requests.filter((one) => one.startsWith('PUT')).map((one) => one.replace(/^.* bytes/, ''))).toEqual([
      ` 0-${chunk - 1}/*`,
      ` ${chunk}-${2 * chunk - 1}/*`,
      ` ${2 * chunk}-${2 * chunk + 16}/${2 * chunk + 17}`,
    ]);
  });

  it.each([0, 256 * 1024, chunk])(
    'goes on after a connection that ends when %i bytes of a chunk are kept',
    async (kept) => {
      google.faults.keepOfNextChunk = kept;
      await open().write(id, inPieces(large, 65_536));
      expect(object()?.bytes.equals(large)).toBe(true);
    },
  );

  it('is there where the answer to its end is lost', async () => {
    google.faults.loseLastAnswer = true;
    expect(await open().write(id, from([Buffer.from('content')]))).toEqual({ size: 7 });
    expect(object()?.bytes.toString()).toBe('content');
  });

  it('is sent again while the service is overloaded, some times', async () => {
    google.faults.unavailable = 2;
    await open().write(id, from([Buffer.from('content')]));
    google.faults.unavailable = 100;
    await expect(open().write(someBlobId(), from([Buffer.from('content')]))).rejects.toMatchObject({
      failure: { kind: 'passing', code: 'HTTP 503' },
    });
  });

  it('is not kept where Google has another one than was sent', async () => {
    google.faults.damageNext = true;
    await expect(open().write(id, from([Buffer.from('content')]))).rejects.toThrow('another MD5');
    expect(object()).toBeUndefined();
  });

  it('is read on after a connection that ends, of the same generation', async () => {
    await open().write(id, inPieces(large, 65_536));
    google.faults.cutNextRead = 1_000;
    expect((await read(open(), id, 10, large.length - 10)).equals(large.subarray(10, -10))).toBe(true);
    const reads = google.requests.filter((one) => one.includes('alt=media'));
    expect(reads.length).toBe(2);
    expect(reads[1]).toMatch(/ifGenerationMatch=[0-9a-f]+ bytes=\d{2,}-/);
  });

  it('is listed over all pages, below the prefix alone', async () => {
    const ids = Array.from({ length: 5 }, someBlobId);
    for (const one of ids) await open().write(one, from([Buffer.from('x')]));
    await open({ prefix: 'other/' }).write(someBlobId(), from([Buffer.from('y')]));
    expect((await listed(open())).toSorted()).toEqual(ids.toSorted());
  });
});

describe('a failure of Google', () => {
  it.each([
    ['another bucket', { bucket: 'other' }, 'refused', 'NoSuchBucket'],
    ['another token', { token: () => 'a.b.c' }, 'refused', 'InvalidCredentials'],
  ] as const)('of %s is told', async (_, address, kind, code) => {
    const store = open(address);
    await expect(store.write(id, from([Buffer.from('x')]))).rejects.toMatchObject({ failure: { kind, code } });
    await expect(read(store, id, 0, 1)).rejects.toMatchObject({ failure: { kind, code } });
    await expect(listed(store)).rejects.toMatchObject({ failure: { kind, code } });
  });

  it('that does not answer is unreachable, and no text has the token', async () => {
    const store = open();
    await google.close();
    const failed = await store.remove(id).catch((error: unknown) => error as Error);
    expect(failed).toMatchObject({ name: 'StoreError', code: 'unreachable' });
    expect(String((failed as Error).stack)).not.toContain('Bearer');
    google = await startGoogleDouble();
  });
});
