import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keptChunks } from '../../streams/chunks.ts';
import { createLogger } from '../../../platform/output/logger.ts';
import {
  describeBlobStore,
  from,
  inPieces,
  listed,
  read,
  someBlobId,
} from '../../../test/support/store/blob-store.conformance.ts';
import { type BlobId, type BlobStore } from '../blob-store.ts';
import { openS3BlobStore, type S3BlobOptions } from './blob-store.ts';
import type { DoubleAnswer } from '../../../test/support/s3/s3-double-bucket.ts';
import { type S3Double, startS3Double } from '../../../test/support/s3/s3-double.ts';

// A machine that is busy elsewhere answers late.
const timeouts = { total: 20_000, answer: 10_000, upload: 10_000, idle: 10_000, pause: 5 };
const quickToRepeat = { ...timeouts, answer: 500, upload: 500, idle: 500 };
const quickToGiveUp = { ...timeouts, total: 200 };
const partBytes = 1_000_000;
const small = randomBytes(300_000);
const large = randomBytes(5 * partBytes + 17);
let s3: S3Double;
let store: BlobStore;
let id: BlobId;
let lines: string[];

async function open(more: Partial<S3BlobOptions> = {}): Promise<BlobStore> {
  lines = [];
  const log = createLogger({ name: 'test', stream: { write: (line: string) => lines.push(line) } });
  const where = { endpoint: s3.endpoint, region: 'us-east-1', bucket: 'blobs', prefix: 'tenant/' };
  return openS3BlobStore({
    ...where,
    accessKey: 'KEY',
    secretKey: 'the-secret',
    log,
    timeouts,
    partBytes,
    ...more,
  });
}

/** Takes note of now; what it returns gives the requests made since. */
function since(): () => readonly string[] {
  const before = s3.requests.length;
  return () => s3.requests.slice(before);
}

function write(bytes: Buffer): Promise<{ readonly size: number }> {
  return store.write(id, inPieces(bytes, 65_536));
}

function object(): Buffer | undefined {
  return s3.bucket.objects.get(`tenant/${id.slice(-2)}/${id}`)?.bytes;
}

function readAll(): Promise<Buffer> {
  return read(store, id, 0, large.length);
}

describeBlobStore('S3, over the double', {
  open: async () => {
    s3 = await startS3Double();
    return open();
  },
  clean: () => s3.close(),
  listedAfter: partBytes + 1,
});

const empty: DoubleAnswer = { status: 200, body: Buffer.alloc(0) };
const wrongAnswers = [
  ['a page with status 200', { kind: 'instead', answer: page(200) }],
  ['a page with status 404', { kind: 'instead', answer: page(404) }],
  ['a page with status 412', { kind: 'instead', answer: page(412) }],
  ['a page with status 416', { kind: 'instead', answer: page(416) }],
  ['a page with status 502', { kind: 'instead', answer: page(502) }],
  ['nothing with status 200', { kind: 'instead', answer: empty }],
  ['nothing with status 404', { kind: 'instead', answer: { ...empty, status: 404 } }],
] as const;

describe('the S3 blob store', () => {
  beforeEach(async () => {
    s3 = await startS3Double();
    store = await open();
    id = someBlobId();
  });
  afterEach(() => s3.close());

  describe('writes', () => {
    it('what fits into a part in one request, under two characters of its id', async () => {
      const made = since();
      await write(small);
      expect(made()).toEqual(['Put']);
      expect(object()?.equals(small)).toBe(true);
    });

    it('a body of exactly one part in one request', async () => {
      const made = since();
      await write(large.subarray(0, partBytes));
      expect(made()).toEqual(['Put']);
    });

    it('more in parts of one size', async () => {
      const made = since();
      await write(large);
      expect(made().toSorted()).toEqual(['Complete', 'Create', 'Part', 'Part', 'Part', 'Part', 'Part', 'Part']);
      expect(object()?.equals(large)).toBe(true);
    });

    it.each(['Put', 'Create', 'Part', 'Complete'])('again when %s is refused for the moment', async (operation) => {
      const slow = { kind: 'answer', status: 503, code: 'SlowDown' } as const;
      s3.fault(operation, slow, { kind: 'reset' }, slow);
      await write(operation === 'Put' ? small : large);
      expect(object()?.equals(operation === 'Put' ? small : large)).toBe(true);
    });

    it.each(['Put', 'Complete'])('once though the answer to %s is lost', async (operation) => {
      s3.fault(operation, { kind: 'lost' });
      const bytes = operation === 'Put' ? small : large;
      expect(await write(bytes)).toEqual({ size: bytes.length });
      expect(object()?.equals(bytes)).toBe(true);
    });

    it.each(['Put', 'Part'])('again when the body of %s arrives damaged', async (operation) => {
      s3.fault(operation, { kind: 'damage' });
      const bytes = operation === 'Put' ? small : large;
      await write(bytes);
      expect(object()?.equals(bytes)).toBe(true);
    });

    it('again when a connection falls silent', async () => {
      store = await open({ timeouts: quickToRepeat });
      s3.fault('Put', { kind: 'silent' });
      await write(small);
      expect(object()?.equals(small)).toBe(true);
    });

    it('waits as long as it is asked to, and gives up when that is too long', async () => {
      store = await open({ timeouts: quickToGiveUp });
      const made = since();
      s3.always('Put', { kind: 'answer', status: 503, code: 'SlowDown', retryAfter: 60 });
      await expect(write(small)).rejects.toMatchObject({ name: 'StoreError', code: 'unreachable' });
      expect(made()).toEqual(['Put', 'Head']);
    });

    it('nothing when answers are lost for good', async () => {
      store = await open({ timeouts: quickToGiveUp });
      s3.always('Put', { kind: 'lost' });
      s3.always('Head', { kind: 'reset' });
      await expect(write(small)).rejects.toMatchObject({ code: 'unreachable' });
    });

    it('takes back what an unanswered attempt left', async () => {
      store = await open({ timeouts: quickToGiveUp });
      // The attempts take effect; that they did cannot be told until they are given up.
      s3.fault('Put', { kind: 'lost' });
      s3.always('Put', { kind: 'answer', status: 503, code: 'SlowDown' });
      await expect(write(small)).rejects.toMatchObject({ code: 'unreachable' });
      expect(s3.bucket.objects.size).toBe(0);
    });

    it('leaves no upload behind when a part is refused', async () => {
      s3.fault('Part', { kind: 'answer', status: 403, code: 'AccessDenied' });
      await expect(write(large)).rejects.toMatchObject({ code: 'unreachable' });
      expect([s3.bucket.uploads.size, s3.bucket.objects.size]).toEqual([0, 0]);
    });

    it('says so when the bucket is full, and tries no further', async () => {
      const made = since();
      s3.fault('Put', { kind: 'answer', status: 507, code: 'XMinioStorageFull' });
      await expect(write(small)).rejects.toMatchObject({ code: 'full' });
      expect(made()).toEqual(['Put']);
    });

    it('holds few parts while that S3 takes none', async () => {
      const gate = Promise.withResolvers<void>();
      s3.always('Part', { kind: 'wait', until: gate.promise });
      let given = 0;
      const endless = (async function* () {
        for (; given < 40; given += 1) {
          await Promise.resolve();
          yield Buffer.alloc(partBytes);
        }
      })();
      const writing = store.write(id, endless);
      await new Promise((resolve) => {
        setTimeout(resolve, 1_000);
      });
      const held = given;
      s3.always('Part');
      gate.resolve();
      await writing;
      // Three on their way, one gathered, one that showed that it is not the last.
      expect(held).toBeLessThanOrEqual(5);
    });
  });

  describe('reads', () => {
    beforeEach(async () => {
      await write(large);
    });

    it.each(['cut', 'stall'] as const)('on at the right byte after a %s', async (kind) => {
      store = await open({ timeouts: quickToRepeat });
      s3.fault('Get', { kind, after: 1_234_567 }, { kind: 'reset' }, { kind, after: 1 });
      expect((await readAll()).equals(large)).toBe(true);
    });

    it('on though every connection ends after a few bytes', async () => {
      s3.always('Get', { kind: 'cut', after: 400_000 });
      expect((await readAll()).equals(large)).toBe(true);
    });

    it('not for ever where nothing comes', async () => {
      store = await open({ timeouts: quickToGiveUp });
      s3.always('Get', { kind: 'cut', after: 0 });
      await expect(readAll()).rejects.toMatchObject({ name: 'StoreError', code: 'unreachable' });
    });

    it('not after silence, and says how long it waited', async () => {
      store = await open({ timeouts: { ...quickToRepeat, total: 600 } });
      s3.always('Get', { kind: 'silent' });
      await expect(readAll()).rejects.toThrow(/no answer within 500 ms \(\d+ attempts? in [\d.]+ (?:s|ms)\)$/);
    });

    it('not long where nothing listens, if the timeouts say so, and on after a restart between its bytes', async () => {
      store = await open({ timeouts: { ...timeouts, total: 600_000, refused: 0 } });
      s3.fault('Get', { kind: 'cut', after: 400_000 });
      expect((await readAll()).equals(large)).toBe(true);
      await s3.close();
      await expect(readAll()).rejects.toThrow(/: ECONNREFUSED \(\d+ attempts? in /);
    });

    it('again after 503 and a late first byte', async () => {
      store = await open({ timeouts: quickToRepeat });
      s3.fault('Get', { kind: 'answer', status: 503, code: 'SlowDown', retryAfter: 0.05 }, { kind: 'silent' });
      expect((await readAll()).equals(large)).toBe(true);
    });

    it('does not hurry a slow reader', async () => {
      store = await open({ timeouts: { ...quickToRepeat, total: 0 } });
      const got: Buffer[] = [];
      for await (const chunk of keptChunks(store.read(id, { start: 0, end: large.length }))) {
        if (got.push(chunk) === 2) await new Promise((resolve) => setTimeout(resolve, 800));
      }
      expect(Buffer.concat(got).equals(large)).toBe(true);
    });

    it('never mixes two objects', async () => {
      s3.fault('Get', { kind: 'cut', after: 1_000_000 });
      const chunks = store.read(id, { start: 0, end: large.length });
      await chunks.next();
      const [entry] = s3.bucket.objects;
      if (entry !== undefined) s3.bucket.objects.set(entry[0], { ...entry[1], etag: '"another"' });
      await expect(
        (async () => {
          while ((await chunks.next()) !== undefined);
        })(),
      ).rejects.toThrow('was replaced');
    });

    it('fails before the first byte where the object is too short', async () => {
      const chunks = store.read(id, { start: 0, end: large.length + 1 });
      await expect(chunks.next()).rejects.toMatchObject({ code: 'blob-truncated' });
    });

    it('says where the bytes are missing or too short', async () => {
      const place = () => `(the blobs' S3, bucket blobs at ${s3.endpoint}, key tenant/${id.slice(-2)}/${id})`;
      id = someBlobId();
      for (const end of [0, 1])
        await expect(read(store, id, 0, end)).rejects.toThrow(`blob ${id} is missing ${place()}`);
      await write(small);
      const end = small.length + 1;
      const cut = `blob ${id} ends before byte ${end}, which was written ${place()}`;
      await expect(read(store, id, 0, end)).rejects.toThrow(cut);
    });

    it('asks for what is not there once more, over a new connection', async () => {
      const made = since();
      await expect(read(store, someBlobId(), 0, 1)).rejects.toMatchObject({ code: 'blob-missing' });
      expect(made()).toEqual(['Get', 'Get']);
    });
  });

  describe('lists', () => {
    it('page by page, uploads too, and nothing of others', async () => {
      s3.bucket.pageSize = 3;
      const ids = Array.from({ length: 10 }, someBlobId);
      for (const one of ids) await store.write(one, from([Buffer.from('x')]));
      const [first] = s3.bucket.objects;
      if (first !== undefined) {
        for (const key of ['tenant/readme', `other/${id.slice(-2)}/${id}`, `tenant/zz/${id}`])
          s3.bucket.objects.set(key, first[1]);
      }
      const begun = Array.from({ length: 7 }, someBlobId);
      for (const one of begun) {
        const key = `tenant/${one.slice(-2)}/${one}`;
        s3.bucket.uploads.set(one, { key, metadata: {}, begun: new Date(), parts: new Map() });
      }
      expect((await listed(store)).toSorted()).toEqual([...ids, ...begun].toSorted());
    });

    it('ages by the clock of that S3', async () => {
      s3.bucket.ageMs = 3_600_000;
      await write(small);
      const [blob] = await Array.fromAsync(store.list());
      // That S3 tells whole seconds, and the test may be slow.
      expect(blob?.ageMs).toBeGreaterThan(3_598_000);
      expect(blob?.ageMs).toBeLessThan(2 * 3_600_000);
    });

    it('objects alone where uploads cannot be listed', async () => {
      s3.fault('ListUploads', { kind: 'answer', status: 501, code: 'NotImplemented' });
      await write(small);
      expect(await listed(store)).toEqual([id]);
    });
  });

  it('removes every upload of a half-written blob', async () => {
    const key = `tenant/${id.slice(-2)}/${id}`;
    for (const upload of ['one', 'two'])
      s3.bucket.uploads.set(upload, { key, metadata: {}, begun: new Date(), parts: new Map() });
    await listed(store);
    await store.remove(id);
    expect(s3.bucket.uploads.size).toBe(0);
  });

  it('removes again when the answer was lost', async () => {
    await write(small);
    s3.fault('Delete', { kind: 'lost' });
    await store.remove(id);
    expect(object()).toBeUndefined();
  });

  describe('of a deployment', () => {
    const own = '5e9f0e0a-1c1f-4a43-8f0c-6a5d1b2f3c4d';
    const other = '0d9c4b6e-2a7a-4a8e-9a55-3b1f8c7d6e5f';
    const marker = 'tenant/coffer-deployment.json';
    const belongsTo = (deploymentId: string) =>
      s3.bucket.objects.set(marker, {
        bytes: Buffer.from(JSON.stringify({ deploymentId })),
        etag: '"1"',
        modified: new Date(),
      } as never);

    beforeEach(async () => {
      // The server joins its deployment when its stores are open.
      let deployment: string | undefined;
      store = await open({ timeouts: quickToGiveUp, deployment: () => deployment });
      deployment = own;
      belongsTo(own);
    });

    it('is looked at by one request every few seconds, whatever else is called', async () => {
      const made = since();
      await write(small);
      await store.check?.();
      await read(store, id, 0, small.length);
      expect(made()).toEqual(['Get', 'Put', 'Get']);
    });

    it('is away while that fails', async () => {
      // A clock that is not real begins at zero, and the calls of the start were at a time of the worker, which may be old.
      const opened = performance.now();
      vi.useFakeTimers({ toFake: ['performance'] });
      try {
        vi.advanceTimersByTime(opened + 60_000);
        await store.check?.();
        vi.advanceTimersByTime(60_000);
        s3.always('Get', { kind: 'reset' });
        const before = since();
        const checked = store.check?.() ?? Promise.resolve();
        // Seconds of its attempts pass after the second one, however long a request takes here.
        const passing = setInterval(() => {
          if (before().length > 1) vi.advanceTimersByTime(10_000);
        }, 20);
        await expect(checked)
          .rejects.toThrow(/could not find coffer-deployment\.json in the blobs' S3/)
          .finally(() => clearInterval(passing));
        s3.always('Get');
        await store.check?.();
      } finally {
        vi.useRealTimers();
      }
    });

    it.each([
      ['of another deployment', () => belongsTo(other), /belongs to the deployment 0d9c4b6e/],
      ['without a marker', () => s3.bucket.objects.delete(marker), /could not find coffer-deployment\.json/],
    ])('is away while its name leads to a bucket %s', async (_which, replace, words) => {
      replace();
      const message = expect.stringMatching(words) as unknown;
      await expect(write(small)).rejects.toMatchObject({ code: 'unreachable', message });
      await expect(store.remove(id)).rejects.toMatchObject({ code: 'unreachable', message });
      await expect(listed(store)).rejects.toMatchObject({ code: 'unreachable', message });
      await expect(store.check?.()).rejects.toMatchObject({ code: 'unreachable', message });
      // A verdict would quarantine the object.
      await expect(read(store, id, 0, 1)).rejects.toMatchObject({ code: 'unreachable', message });
      belongsTo(own);
      await write(small);
      expect(await read(store, id, 0, small.length)).toEqual(small);
    });

    it('is looked at by one request for many writes at once', async () => {
      const made = since();
      await Promise.all(Array.from({ length: 10 }, () => store.write(someBlobId(), from([small]))));
      expect(made().filter((name) => name === 'Get')).toHaveLength(1);
    });

    it('is looked at again after a look that took as long as it may be believed', async () => {
      vi.useFakeTimers({ toFake: ['performance'] });
      try {
        const answered = Promise.withResolvers<void>();
        s3.fault('Get', { kind: 'wait', until: answered.promise });
        const made = since();
        const first = write(small);
        await vi.waitFor(() => expect(made()).toEqual(['Get']), { timeout: 60_000 });
        vi.advanceTimersByTime(60_000);
        answered.resolve();
        await first;
        await store.remove(id);
        expect(made()).toEqual(['Get', 'Put', 'Get', 'Delete']);
      } finally {
        vi.useRealTimers();
      }
    });

    it.each([
      ['in one request', small],
      ['in parts', large],
    ])('takes no body %s when its name leads to another bucket while the body arrives', async (_how, bytes) => {
      vi.useFakeTimers({ toFake: ['performance'] });
      try {
        const made = since();
        await store.check?.();
        const slow = (async function* () {
          yield bytes.subarray(0, 1_000);
          belongsTo(other);
          vi.advanceTimersByTime(60_000);
          yield* inPieces(bytes.subarray(1_000), 65_536);
        })();
        await expect(store.write(id, slow)).rejects.toThrow(/belongs to the deployment 0d9c4b6e/);
        expect(made().filter((name) => name === 'Put' || name === 'Create')).toEqual([]);
      } finally {
        vi.useRealTimers();
      }
    });

    it.each([
      ['Put', small],
      ['Create', large],
    ] as const)('takes no second attempt of %s when its name leads to another bucket', async (operation, bytes) => {
      vi.useFakeTimers({ toFake: ['performance'] });
      try {
        let deployment: string | undefined;
        store = await open({ timeouts: { ...timeouts, total: 600_000 }, deployment: () => deployment });
        deployment = own;
        const change = () => {
          belongsTo(other);
          vi.advanceTimersByTime(60_000);
          return page(502);
        };
        s3.fault(operation, { kind: 'changed', change });
        const made = since();
        await expect(write(bytes)).rejects.toThrow(/belongs to the deployment 0d9c4b6e/);
        expect(made().filter((name) => name === operation)).toHaveLength(1);
      } finally {
        vi.useRealTimers();
      }
    });

    it('still says that a blob is missing', async () => {
      await expect(read(store, id, 0, 1)).rejects.toMatchObject({ code: 'blob-missing' });
    });

    it('is not away for one wrong answer', async () => {
      s3.fault('Get', { kind: 'answer', status: 404, code: 'NoSuchKey' });
      await store.check?.();
    });
  });

  describe('whose keys are rotated', () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'coffer-keys-'));
    });
    afterEach(() => rm(folder, { recursive: true }));

    it.each(['InvalidAccessKeyId', 'SignatureDoesNotMatch'])('reads them again after %s', async (code) => {
      const secretKeyFile = join(folder, 'secret-key');
      store = await open({ secretKeyFile });
      await writeFile(secretKeyFile, 'other-secret\n');
      s3.fault('Put', { kind: 'answer', status: 403, code });
      await write(small);
      expect(object()?.equals(small)).toBe(true);
    });

    it('does not try again with the keys that were refused', async () => {
      const secretKeyFile = join(folder, 'secret-key');
      await writeFile(secretKeyFile, 'the-secret\n');
      store = await open({ secretKeyFile });
      const made = since();
      s3.always('Put', { kind: 'answer', status: 403, code: 'SignatureDoesNotMatch' });
      await expect(write(small)).rejects.toThrow(/secret key/);
      expect(made().filter((name) => name === 'Put')).toEqual(['Put']);
    });
  });

  describe('at the start', () => {
    it('tries everything, and leaves nothing', async () => {
      const made = since();
      await open();
      expect(made()).toEqual(['List', 'Put', 'Get', 'Delete', 'Versioning']);
      expect(s3.bucket.objects.size).toBe(0);
    });

    it.each([
      ['NoSuchBucket', 404, 'make the bucket'],
      ['AccessDenied', 403, 's3:ListBucket'],
      ['InvalidAccessKeyId', 403, 'does not know the access key'],
      ['SignatureDoesNotMatch', 403, 'secret key'],
      ['AuthorizationHeaderMalformed', 400, 'region'],
    ])('refuses %s, with what to do, and never the secret', async (code, status, advice) => {
      s3.fault('List', { kind: 'answer', status, code });
      const error = await open().catch((caught: unknown) => caught as Error);
      expect(error).toMatchObject({ name: 'StoreError', code: 'unreachable' });
      const { message } = error as Error;
      for (const part of ['blobs', s3.endpoint, code, advice]) expect(message).toContain(part);
      expect(message).not.toContain('the-secret');
    });

    it('refuses a key that may not write', async () => {
      s3.fault('Put', { kind: 'answer', status: 403, code: 'AccessDenied' });
      await expect(open()).rejects.toThrow('s3:PutObject');
    });

    it('says which address does not answer', async () => {
      await expect(open({ endpoint: 'http://127.0.0.1:9', timeouts: quickToGiveUp })).rejects.toThrow(
        /bucket blobs at http:\/\/127\.0\.0\.1:9\): ECONNREFUSED/,
      );
    });

    it('warns of a bucket that keeps versions', async () => {
      s3.bucket.versions = true;
      await open();
      expect(lines.join('')).toContain('suspend its versioning');
    });
  });

  describe.each(wrongAnswers)(
    'with one answer of %s to each kind of call, as if it had not been there,',
    (_what, fault) => {
      it('writes, reads, lists and removes', async () => {
        s3.fault('Put', { kind: 'lost' }, fault);
        s3.fault('Head', fault);
        expect(await write(small)).toEqual({ size: small.length });
        expect(object()?.equals(small)).toBe(true);
        s3.fault('Get', fault);
        expect((await read(store, id, 0, small.length)).equals(small)).toBe(true);
        s3.fault('Head', fault);
        expect(await read(store, id, 7, 7)).toHaveLength(0);
        const upload = 'a'.repeat(32);
        s3.bucket.uploads.set('1', { key: `tenant/aa/${upload}`, metadata: {}, begun: new Date(), parts: new Map() });
        for (const operation of ['List', 'ListUploads', 'Delete']) s3.fault(operation, fault);
        expect((await listed(store)).toSorted()).toEqual([id, upload].toSorted());
        await store.remove(id);
        expect(object()).toBeUndefined();
      });

      it('writes a large body, and opens', async () => {
        for (const operation of ['Create', 'Part', 'Complete', 'List', 'Put', 'Get', 'Delete'])
          s3.fault(operation, fault);
        expect(await write(large)).toEqual({ size: large.length });
        expect(object()?.equals(large)).toBe(true);
        await open();
      });
    },
  );

  it('does not take a Put for done whose answers have no ETag', async () => {
    store = await open({ timeouts: quickToGiveUp });
    s3.always('Put', { kind: 'instead', answer: page(200) });
    await expect(write(small)).rejects.toMatchObject({ code: 'unreachable' });
    await expect(write(small)).rejects.toThrow('HTTP 200');
  });

  it('takes a Put for done whose ETag is another one, once the object is found', async () => {
    s3.always('Put', { kind: 'changed', change: withOtherEtag });
    const made = since();
    expect(await write(small)).toEqual({ size: small.length });
    expect(made()).toEqual(['Put', 'Put', 'Head']);
  });

  it('takes the ETag of an object that it encrypts as it is', async () => {
    const sealed = { etag: `"${'0'.repeat(32)}"`, 'x-amz-server-side-encryption': 'aws:kms' };
    s3.always('Put', {
      kind: 'changed',
      change: (answer) => ({ ...answer, headers: { ...answer.headers, ...sealed } }),
    });
    const made = since();
    await write(small);
    expect(made()).toEqual(['Put']);
  });

  it('does not take a 404 without a code for a word about the blob, though an S3 marked it', async () => {
    store = await open({ timeouts: quickToGiveUp });
    await write(small);
    s3.always('Get', { kind: 'instead', answer: { ...empty, status: 404, headers: { 'x-amz-request-id': '1' } } });
    await expect(read(store, id, 0, small.length)).rejects.toMatchObject({ code: 'unreachable' });
  });

  it.each([404, 416])('does not take a page with status %i for a word about the blob', async (status) => {
    store = await open({ timeouts: quickToGiveUp });
    await write(small);
    s3.always('Get', { kind: 'instead', answer: page(status) });
    await expect(read(store, id, 0, small.length)).rejects.toMatchObject({ code: 'unreachable' });
  });
});

/** The page of a proxy. */
function page(status: number): DoubleAnswer {
  const headers = { 'content-type': 'text/html' };
  return { status, headers, body: Buffer.from('<html><body><h1>Welcome</h1></body></html>') };
}

function withOtherEtag(answer: DoubleAnswer): DoubleAnswer {
  return { ...answer, headers: { ...answer.headers, etag: `"${'0'.repeat(32)}"` } };
}
