import { resolve } from 'node:path';
import { DataFolderError } from './data-folder-error.ts';

/**
 * Refuses stores that this version does not have: it must never write into its data folder what somebody meant for elsewhere. The
 * data folder by another name (`lmdb:FOLDER`, `files:FOLDER`, a bare path) is taken.
 *
 * Throws `DataFolderError`, without the address of a database, which may hold a password.
 */
export function checkStores(stores: { readonly records?: string; readonly blobs?: string }, dataFolder: string): void {
  const folder = resolve(dataFolder);
  const { records, blobs } = stores;
  if (records !== undefined && !isWithin(records, 'lmdb:', [folder, resolve(folder, 'records')])) {
    const what = records.startsWith('lmdb:') ? `the folder ${records.slice(5)}` : 'a PostgreSQL database';
    throw new DataFolderError(
      `SVC_STORE_RECORDS names ${what}: this version keeps records in its data folder alone (${folder}); leave SVC_STORE_RECORDS unset, or write lmdb:`,
    );
  }
  if (blobs !== undefined && !isWithin(blobs, 'files:', [folder, resolve(folder, 'blobs')])) {
    throw new DataFolderError(
      `SVC_STORE_BLOBS is ${blobs}: this version keeps the contents of objects in its data folder alone (${folder}); leave SVC_STORE_BLOBS unset, or write files:`,
    );
  }
}

/** Whether a store is one of the folders, written with the scheme or without; the scheme alone means the data folder. */
function isWithin(store: string, scheme: string, folders: readonly string[]): boolean {
  const path = store.startsWith(scheme) ? store.slice(scheme.length).replace(/^\/\/(?=\/)/, '') : store;
  if (path === '') return store === scheme;
  return !/^[a-z0-9]+:/.test(path) && folders.includes(resolve(path));
}
