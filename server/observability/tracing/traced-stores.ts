import type { KeySource } from '../../encryption/key-source.ts';
import type { BlobStore, Segments } from '../../store/blob-store.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { Tracing } from './tracing.ts';

/** Returns an object with some methods replaced. Private members stay with the original object. */
function withMethods<Shape extends object, Target extends Shape = Shape>(
  target: Target,
  methods: Partial<Shape>,
): Target {
  return new Proxy(target, {
    get(real, name) {
      const other: unknown = Reflect.get(methods, name);
      if (other !== undefined) return other;
      const value: unknown = Reflect.get(real, name, real);
      return typeof value === 'function' ? value.bind(real) : value;
    },
  });
}

/** The stores and the key source of a thread. */
export interface Stores {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  readonly keys: KeySource;
}

export function traced({ records, blobs, keys }: Stores, tracing: Tracing): Stores {
  return {
    records: tracedRecords(records, tracing),
    blobs: tracedBlobs(blobs, tracing),
    keys: tracedKeys(keys, tracing),
  };
}

/** Commits have spans. Reads have none: each request has several, and memory answers most of them. */
function tracedRecords(records: RecordStore, tracing: Tracing): RecordStore {
  return withMethods<RecordStore>(records, {
    commit: (batch: Parameters<RecordStore['commit']>[0]) =>
      tracing.span('records.commit', {}, () => records.commit(batch)),
  });
}

/** Writing a blob has a span, and so has reading one from the first chunk to the last. */
function tracedBlobs(blobs: BlobStore, tracing: Tracing): BlobStore {
  return withMethods<BlobStore>(blobs, {
    // Asked for again each time: a shared store may not be open yet.
    get segments() {
      const { segments } = blobs;
      return segments && withMethods<Segments>(segments, tracedSegments(segments, tracing));
    },
    write: (...args: Parameters<BlobStore['write']>) =>
      tracing.span('blob.write', { 'blob.id': args[0] }, () => blobs.write(...args)),
    read: (...[id, range]: Parameters<BlobStore['read']>) => {
      const span = tracing.begin('blob.read', { 'blob.id': id, 'blob.bytes': range.end - range.start });
      const chunks = blobs.read(id, range);
      return withMethods(chunks, {
        close: async () => {
          await chunks.close();
          span?.end();
        },
      });
    },
  });
}

function tracedSegments(segments: Segments, tracing: Tracing): Pick<Segments, 'write'> {
  return {
    write: (...args: Parameters<Segments['write']>) => tracing.span('blob.write', {}, () => segments.write(...args)),
  };
}

function tracedKeys(keys: KeySource, tracing: Tracing): KeySource {
  return withMethods<KeySource>(keys, {
    generate: (...args: Parameters<KeySource['generate']>) =>
      tracing.span('keys.generate', { 'key.name': args[0] }, () => keys.generate(...args)),
    unseal: (...args: Parameters<KeySource['unseal']>) =>
      tracing.span('keys.unseal', { 'key.name': args[0].keyName }, async () => keys.unseal(...args)),
  });
}
