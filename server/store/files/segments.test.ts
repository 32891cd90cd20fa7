import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { from, inPieces, read, someBlobId } from '../../../test/support/store/blob-store.conformance.ts';
import { systemFailure } from '../../../test/support/store/system-failure.ts';
import { PowerCut, SimulatedDisk } from '../../../test/support/store/simulated-disk.ts';
import type { BlobId, Segments, SegmentId } from '../blob-store.ts';
import { packedId, placeOf } from '../packed-id.ts';
import { openFilesBlobStore } from './blob-store.ts';
import { sealLeftSegments } from './file-segments.ts';

const root = '/data';

function opened(disk = new SimulatedDisk(root), now = () => 0) {
  const store = openFilesBlobStore(root, { fs: disk, now });
  const { segments } = store;
  if (segments === undefined) throw new Error('files have segments');
  return { disk, store, segments };
}

async function pack(segments: Segments, bytes: Buffer): Promise<BlobId> {
  return (await segments.write(inPieces(bytes, 10_000), { length: bytes.length })).id;
}

const segmentOf = (id: BlobId): SegmentId => {
  const place = placeOf(id);
  if (place === undefined) throw new Error(`${id} is not packed`);
  return place.segment;
};

/** The disk with other files. */
function withCreate(disk: SimulatedDisk, create: SimulatedDisk['create']): SimulatedDisk {
  return new Proxy(disk, {
    get(target, name) {
      if (name === 'create') return create;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

const byText = (one: boolean, other: boolean) => Number(one) - Number(other);

function timed(disk = new SimulatedDisk(root)) {
  let now = 0;
  const { segments } = opened(disk, () => now);
  return {
    segments,
    states: async () => (await Array.fromAsync(segments.list())).map(({ sealed }) => sealed).toSorted(byText),
    /** Waits until what the timer began has made its steps. */
    pass: async (ms: number) => {
      now += ms;
      vi.advanceTimersByTime(ms);
      for (let step = 0; step < 20; step += 1) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const flushes = (disk: SimulatedDisk) => disk.steps.filter((step) => step.startsWith('syncData')).length;

/** A disk that takes half of each write while it is `full`. */
function fillingDisk() {
  const disk = new SimulatedDisk(root);
  const state = { full: false, error: 'ENOSPC' };
  const create = async (path: string) => {
    const file = await disk.create(path);
    const write: typeof file.write = async (chunks, position) => {
      if (!state.full) return file.write(chunks, position);
      await file.write([Buffer.concat(chunks).subarray(0, 2_000)], position);
      throw systemFailure(state.error);
    };
    return { ...file, write };
  };
  const { segments, store } = opened(withCreate(disk, create));
  return { state, segments, store, disk };
}

describe('bodies in a segment', () => {
  it.each([1, 4096, 70_000, 1_500_000])('of %i bytes are read as they were written, in any range', async (size) => {
    const { store, segments } = opened();
    const [one, other] = [randomBytes(size), randomBytes(size)];
    const ids = await Promise.all([one, other].map((bytes) => pack(segments, bytes)));
    expect((await read(store, ids[0] as BlobId, 0, size)).equals(one)).toBe(true);
    expect((await read(store, ids[1] as BlobId, size - 1, size)).equals(other.subarray(size - 1))).toBe(true);
  });

  it('share one file, and are listed neither as blobs nor read beyond their end', async () => {
    const { store, segments } = opened();
    const [one, other] = await Promise.all([
      pack(segments, Buffer.alloc(5_000, 1)),
      pack(segments, Buffer.alloc(5_000, 2)),
    ]);
    expect(segmentOf(one)).toBe(segmentOf(other));
    await expect(read(store, one, 0, 5_001)).rejects.toMatchObject({ code: 'blob-truncated' });
    expect(await Array.fromAsync(store.list())).toEqual([]);
    expect(await Array.fromAsync(segments.list())).toMatchObject([{ segment: segmentOf(one), sealed: false }]);
  });

  it('that end together share a flush', async () => {
    const { disk, segments } = opened();
    await pack(segments, Buffer.alloc(10));
    const before = flushes(disk);
    await Promise.all(Array.from({ length: 50 }, () => pack(segments, Buffer.alloc(5_000))));
    expect(flushes(disk) - before).toBeLessThan(10);
  });

  it('do not wait for one that comes slowly', async () => {
    const { segments } = opened();
    const gate = Promise.withResolvers<void>();
    const slow = segments.write(
      (async function* () {
        yield Buffer.from('a');
        await gate.promise;
        yield Buffer.from('b');
      })(),
      { length: 2 },
    );
    expect(await pack(segments, Buffer.alloc(9_000))).toMatch(/^ff/);
    gate.resolve();
    expect((await slow).id).toMatch(/^ff/);
  });

  it('come back whole where the system writes no pages directly', async () => {
    const disk = new SimulatedDisk(root);
    const { store, segments } = opened(withCreate(disk, (path) => disk.create(path)));
    const bodies = [randomBytes(5_000), randomBytes(300_000), randomBytes(1)];
    const ids = await Promise.all(bodies.map((body) => pack(segments, body)));
    for (const [at, body] of bodies.entries()) {
      expect((await read(store, ids[at] ?? someBlobId(), 0, body.length)).equals(body)).toBe(true);
    }
  });

  it('that fail, or have another length, leave those beside them alone', async () => {
    const { store, segments } = opened();
    const failing = (async function* () {
      yield Buffer.alloc(100);
      await Promise.resolve();
      throw new Error('the client went away');
    })();
    const broken = segments.write(failing, { length: 5_000 });
    const good = pack(segments, Buffer.alloc(5_000, 7));
    await expect(broken).rejects.toThrow('the client went away');
    await expect(segments.write(from([Buffer.alloc(3)]), { length: 2 })).rejects.toThrow('3 bytes came');
    await expect(segments.write(from([Buffer.alloc(5_000)]), { length: 2 })).rejects.toThrow('has more');
    await expect(segments.write(from([Buffer.alloc(3)]), { length: 4 })).rejects.toThrow('3 bytes came');
    expect((await read(store, await good, 0, 5_000)).equals(Buffer.alloc(5_000, 7))).toBe(true);
  });

  it('release each chunk', async () => {
    const { segments } = opened();
    const released: number[] = [];
    await segments.write(inPieces(Buffer.alloc(10_000), 4_096), {
      length: 10_000,
      release: (chunk) => released.push(chunk.length),
    });
    expect(released).toEqual([4_096, 4_096, 1_808]);
  });

  it('are missing when there is no such segment, and after it was removed', async () => {
    const { store, segments } = opened();
    const absent = packedId({ segment: 'ff00000000000000' as SegmentId, offset: 0, length: 5 });
    await expect(read(store, absent, 0, 5)).rejects.toMatchObject({ code: 'blob-missing' });
    const id = await pack(segments, Buffer.alloc(5));
    await segments.remove(segmentOf(id));
    await segments.remove(segmentOf(id));
    await expect(read(store, id, 0, 5)).rejects.toMatchObject({ code: 'blob-missing' });
  });

  it('may be files of their own in a copy of the store', async () => {
    const { segments } = opened();
    const bytes = randomBytes(5_000);
    const id = await pack(segments, bytes);
    const copy = opened().store;
    await copy.write(id, inPieces(bytes, 1_000));
    expect((await read(copy, id, 0, 5_000)).equals(bytes)).toBe(true);
    await copy.remove(id);
    await expect(read(copy, id, 0, 1)).rejects.toMatchObject({ code: 'blob-missing' });
  });
});

describe('a segment', () => {
  it('whose flush failed takes no more bodies', async () => {
    let fail = true;
    const disk = new SimulatedDisk(root);
    const create = async (path: string) => {
      const file = await disk.create(path);
      return { ...file, syncData: () => (fail ? Promise.reject(new Error('input/output error')) : file.syncData()) };
    };
    const { segments, store } = opened(withCreate(disk, create));
    const first = Promise.allSettled([pack(segments, Buffer.alloc(10)), pack(segments, Buffer.alloc(10))]);
    expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fail = false;
    const id = await pack(segments, Buffer.alloc(10, 3));
    expect((await read(store, id, 0, 10)).equals(Buffer.alloc(10, 3))).toBe(true);
    // The first one had no body, and is gone.
    expect((await Array.fromAsync(segments.list())).map(({ sealed }) => sealed)).toEqual([false]);
  });

  it('is sealed early on a small volume, where compaction has little room', async () => {
    const { segments } = opened();
    for (let n = 0; n < 5; n += 1) await pack(segments, Buffer.alloc(1024 * 1024));
    const found = await Array.fromAsync(segments.list());
    expect(found.map(({ sealed }) => sealed).toSorted(byText)).toEqual([false, true]);
  });

  describe('that found no room', () => {
    it('is sealed without the rest of what failed', async () => {
      const { state, segments, store } = fillingDisk();
      const id = await pack(segments, Buffer.alloc(10, 1));
      state.full = true;
      await expect(pack(segments, Buffer.alloc(5_000))).rejects.toMatchObject({ code: 'full' });
      expect(await Array.fromAsync(segments.list())).toMatchObject([{ sealed: true, size: 10 }]);
      state.full = false;
      expect((await read(store, id, 0, 10)).equals(Buffer.alloc(10, 1))).toBe(true);
      await pack(segments, Buffer.alloc(10));
      const found = await Array.fromAsync(segments.list());
      expect(found.map(({ sealed }) => sealed).toSorted(byText)).toEqual([false, true]);
    });

    it.each(['ENOSPC', 'EDQUOT', 'EFBIG'])('is removed where it has no body and the error is %s', async (error) => {
      const { state, segments } = fillingDisk();
      state.error = error;
      state.full = true;
      for (let attempt = 0; attempt < 3; attempt += 1) {
        // Each refused request would leave a file and its space.
        await expect(pack(segments, Buffer.alloc(5_000))).rejects.toMatchObject({ code: 'full' });
      }
      expect(await Array.fromAsync(segments.list())).toEqual([]);
    });
  });

  describe('is sealed', () => {
    const MINUTE = 60_000;
    /** Of a small volume, whose segments have 4 MiB. */
    const [small, large] = [Buffer.alloc(400_000), Buffer.alloc(600_000)];

    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    it('after a minute without a write', async () => {
      const { segments, states, pass } = timed();
      await pack(segments, large);
      await pass(0.5 * MINUTE);
      expect(await states()).toEqual([false]);
      await pass(MINUTE);
      expect(await states()).toEqual([true]);
    });

    it('after half an hour without a write where it is small: a quiet server does not make a file for each body', async () => {
      const { segments, states, pass } = timed();
      for (let body = 0; body < 4; body += 1) {
        await pack(segments, Buffer.alloc(100));
        await pass(20 * MINUTE);
        expect(await states()).toEqual([false]);
      }
      await pass(10 * MINUTE);
      expect(await states()).toEqual([true]);
    });

    it('when it is ten minutes old', async () => {
      const { segments, states, pass } = timed();
      for (let body = 0; body < 11; body += 1) {
        await pack(segments, body === 0 ? large : Buffer.alloc(10));
        await pass(59_000);
      }
      await pack(segments, small);
      expect(await states()).toEqual([false, true]);
    });

    it('later where the disk had no room for the mark', async () => {
      let full = true;
      const disk = new SimulatedDisk(root);
      const noRoom = systemFailure('ENOSPC');
      const create = (path: string) => (full && path.endsWith('.sealed') ? Promise.reject(noRoom) : disk.create(path));
      const { segments, states, pass } = timed(withCreate(disk, create));
      await pack(segments, large);
      await pass(2 * MINUTE);
      expect(await states()).toEqual([false]);
      full = false;
      await pass(MINUTE);
      expect(await states()).toEqual([true]);
    });

    it('by the next process where its own has ended', async () => {
      const disk = new SimulatedDisk(root);
      const { segments, states } = timed(disk);
      await pack(segments, large);
      await sealLeftSegments(`${root}/segments`, disk);
      await sealLeftSegments(`${root}/segments`, disk);
      expect(await states()).toEqual([true]);
    });
  });

  describe('that is appended to', () => {
    const body = Buffer.alloc(5_000);

    it('is asked about with its size, and stays open where it is not due', async () => {
      const { segments } = opened();
      const id = await pack(segments, body);
      const asked: unknown[] = [];
      await segments.sealOpen((open) => {
        asked.push(open);
        return Promise.resolve(false);
      });
      expect(asked).toEqual([{ segment: segmentOf(id), size: 8_192, failed: 0, full: 4 * 1024 * 1024 }]);
      expect(segmentOf(await pack(segments, body))).toBe(segmentOf(id));
    });

    it('is asked about with the bytes of bodies that failed', async () => {
      const { segments } = opened();
      await pack(segments, body);
      await expect(segments.write(from([Buffer.alloc(3)]), { length: 5_000 })).rejects.toThrow('3 bytes came');
      const asked: unknown[] = [];
      await segments.sealOpen(({ size, failed }) => {
        asked.push({ size, failed });
        return Promise.resolve(false);
      });
      expect(asked).toEqual([{ size: 16_384, failed: 8_192 }]);
    });

    it('is sealed where it is due, and the next body begins another one', async () => {
      const { store, segments } = opened();
      const id = await pack(segments, body);
      await segments.sealOpen(() => Promise.resolve(true));
      expect(await Array.fromAsync(segments.list())).toMatchObject([{ segment: segmentOf(id), sealed: true }]);
      expect(segmentOf(await pack(segments, body))).not.toBe(segmentOf(id));
      expect((await read(store, id, 0, 5_000)).equals(body)).toBe(true);
    });

    it('is followed by one only where two bodies find that it is due, and its end takes long', async () => {
      const disk = new SimulatedDisk(root);
      const open = new Set<string>();
      const create = async (path: string) => {
        const file = await disk.create(path);
        open.add(path);
        const close = async () => {
          for (let step = 0; step < 50; step += 1) await new Promise((resolve) => setImmediate(resolve));
          open.delete(path);
          await file.close();
        };
        return { ...file, close };
      };
      let now = 0;
      const { segments } = opened(withCreate(disk, create), () => now);
      await pack(segments, randomBytes(200_000));
      now += 3_600_000;
      await Promise.all([pack(segments, randomBytes(200_000)), pack(segments, randomBytes(200_000))]);
      expect([...open].filter((path) => !path.endsWith('.sealed'))).toHaveLength(1);
    });

    it('is sealed by its last writer', async () => {
      const { store, segments } = opened();
      const gate = Promise.withResolvers<void>();
      const slow = segments.write(
        (async function* () {
          yield Buffer.from('a');
          await gate.promise;
          yield Buffer.from('b');
        })(),
        { length: 2 },
      );
      await pack(segments, body);
      await segments.sealOpen(() => Promise.resolve(true));
      expect(await Array.fromAsync(segments.list())).toMatchObject([{ sealed: false }]);
      gate.resolve();
      expect(String(await read(store, (await slow).id, 0, 2))).toBe('ab');
      expect(await Array.fromAsync(segments.list())).toMatchObject([{ sealed: true }]);
    });

    it('is sealed only by the server that appends to it', async () => {
      const disk = new SimulatedDisk(root);
      await pack(opened(disk).segments, body);
      const { segments } = opened(disk);
      await segments.sealOpen(() => Promise.resolve(true));
      expect(await Array.fromAsync(segments.list())).toMatchObject([{ sealed: false }]);
    });

    it('stays as it is where another one was begun while the answer was awaited', async () => {
      const { segments } = opened();
      await pack(segments, body);
      const answer = Promise.withResolvers<boolean>();
      const sealing = segments.sealOpen(() => answer.promise);
      await segments.sealOpen(() => Promise.resolve(true));
      await pack(segments, body);
      answer.resolve(true);
      await sealing;
      const found = await Array.fromAsync(segments.list());
      expect(found.map(({ sealed }) => sealed).toSorted(byText)).toEqual([false, true]);
    });
  });

  it('is small below an eighth of what one may have', async () => {
    const { segments } = opened();
    await pack(segments, Buffer.alloc(520_000));
    expect(await Array.fromAsync(segments.list())).toMatchObject([{ small: true }]);
    await pack(segments, Buffer.alloc(520_000));
    expect(await Array.fromAsync(segments.list())).toMatchObject([{ small: false }]);
  });
});

async function lost(disk: SimulatedDisk, acknowledged: Map<BlobId, Buffer>): Promise<number> {
  let count = 0;
  for (const names of ['lost', 'kept'] as const) {
    const { store } = opened(disk.afterPowerCut(names));
    for (const [id, bytes] of acknowledged) {
      const found = await read(store, id, 0, bytes.length).catch(() => undefined);
      if (found?.equals(bytes) !== true) count += 1;
    }
  }
  return count;
}

describe('a power cut', () => {
  const bodies = [Buffer.alloc(3_000, 1), Buffer.alloc(9_000, 2), Buffer.alloc(100, 3)];

  /** Writes all bodies, the last one after the others. Returns those that were acknowledged. */
  async function write(disk: SimulatedDisk): Promise<Map<BlobId, Buffer>> {
    const { segments } = opened(disk);
    const acknowledged = new Map<BlobId, Buffer>();
    const one = async (bytes: Buffer | undefined) => {
      if (bytes === undefined) return;
      try {
        acknowledged.set(await pack(segments, bytes), bytes);
      } catch (error) {
        if (!(error instanceof PowerCut) && !String(error).includes('segment')) throw error;
      }
    };
    await Promise.all([one(bodies[0]), one(bodies[1])]);
    await segments.sealOpen(() => Promise.resolve(true));
    await one(bodies[2]);
    return acknowledged;
  }

  it('before any step loses no acknowledged body', async () => {
    const whole = new SimulatedDisk(root);
    expect((await write(whole)).size).toBe(3);
    for (let cutBefore = 0; cutBefore <= whole.steps.length; cutBefore += 1) {
      const disk = new SimulatedDisk(root, { cutBefore });
      expect(await lost(disk, await write(disk)), `cut before step ${cutBefore}`).toBe(0);
    }
  });

  it.each([['syncData'], ['syncFolder segments'], ['syncFolder .']])(
    'would show where %s only pretended',
    async (flush) => {
      const disk = new SimulatedDisk(root, { pretends: (step) => step.startsWith(flush) });
      expect(await lost(disk, await write(disk))).toBeGreaterThan(0);
    },
  );
});

it('a blob of its own is untouched by segments', async () => {
  const { store, segments } = opened();
  const id = someBlobId();
  await store.write(id, from([Buffer.from('own')]));
  await pack(segments, Buffer.alloc(10));
  expect(String(await read(store, id, 0, 3))).toBe('own');
});
