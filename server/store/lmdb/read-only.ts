import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ProgramError } from '../../../platform/program-error.ts';
import { fileErrorReason, systemErrorCode } from '../../../platform/system-error.ts';
import type { RecordStore } from '../record-store.ts';
import { StoreError } from '../store-error.ts';
import { RECORD_FILE } from './environment.ts';
import { damageOfRecordFile } from './record-file.ts';
import { openLmdbRecordStore } from './record-store.ts';

/**
 * Opens records that no process writes, and changes nothing: LMDB would make its lock file beside them, so that it gets a link in a folder
 * of its own. The medium may be read-only, and the user may only read. Throws `ProgramError` for a file that is missing or damaged.
 */
export function openLmdbReadOnly(folder: string): RecordStore {
  checkRecordFile(folder);
  const beside = mkdtempSync(join(tmpdir(), 'coffer-records-'));
  try {
    symlinkSync(resolve(folder, RECORD_FILE), join(beside, RECORD_FILE));
    const records = openLmdbRecordStore({ folder: beside, readOnly: true });
    const close = records.close.bind(records);
    return Object.assign(records, {
      commit: () => Promise.reject(new StoreError('read-only', 'the records are open for reading alone')),
      close: () => close().finally(() => rmSync(beside, { recursive: true, force: true })),
    });
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Throws `ProgramError` where a record file is missing or damaged. Nothing else may look at such a file: LMDB would end the process, or make
 * a new file in its place.
 */
export function checkRecordFile(folder: string, options: { readonly leaves?: boolean } = {}): void {
  const path = join(folder, RECORD_FILE);
  if (!existsSync(path)) throw damaged(`the record file ${path} is missing`);
  const damage = damageOf(path, options);
  if (damage !== undefined) throw damaged(`the record file ${path} is damaged: ${damage}`);
}

function damageOf(path: string, options: { readonly leaves?: boolean }): string | undefined {
  try {
    return damageOfRecordFile(path, options);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    throw new ProgramError('record-file', `the record file ${path} cannot be read: ${fileErrorReason(error)}`, {
      cause: error,
    });
  }
}

function damaged(what: string): ProgramError {
  return new ProgramError(
    'record-file',
    `${what}. Records are lost. Keep the folder as it is, since the bodies in it are still needed, check the disk, and restore a snapshot to another ` +
      'folder (coffer-store restore)',
  );
}
