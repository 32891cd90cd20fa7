import type { Fingerprint } from './part-plan.ts';

/** An upload in parts that was begun, as it survives a reload of the page. The server has the parts. */
export interface UploadRecord extends Fingerprint {
  readonly uploadId: string;
  readonly bucket: string;
  readonly key: string;
  readonly partSize: number;
  readonly replace: boolean;
  /** The name of the user: another user of this browser does not see it. */
  readonly owner: string;
}

const storeName = 'uploads';

/** Keeps the uploads in parts in IndexedDB. Where the browser has none, as in some private windows, uploads cannot be resumed after a reload. */
export const uploadRecords = {
  list: () => run<UploadRecord[]>('readonly', (store) => store.getAll()),
  put: (record: UploadRecord) => run('readwrite', (store) => store.put(record)),
  delete: (uploadId: string) => run('readwrite', (store) => store.delete(uploadId)),
};

async function run<Result>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result | undefined> {
  try {
    const database = await open();
    try {
      return await settled(work(database.transaction(storeName, mode).objectStore(storeName)));
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open('coffer-uploads', 1);
  request.addEventListener('upgradeneeded', () => {
    request.result.createObjectStore(storeName, { keyPath: 'uploadId' });
  });
  return settled(request);
}

function settled<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB failed')));
  });
}
