import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, statfsSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { fileErrorReason, systemErrorCode } from '../../../platform/errors/system-error.ts';
import type { RecordStore } from '../record-store.ts';
import { StoreError } from '../store-error.ts';
import { RECORD_FILE } from './environment.ts';
import { allocateLockFile, LOCK_FILE } from './lock-file.ts';
import { damageOfRecordFile } from './record-file.ts';
import { openLmdbRecordStore } from './record-store.ts';

/**
 * Opens records that no process writes, and changes nothing: LMDB would make its lock file beside them, so that it gets a link in a folder
 * of its own. The medium may be read-only, and the user may only read. Where its file system maps no files into memory, the folder gets a copy.
 * Throws `ProgramError` for a file that is missing or damaged.
 */
export function openLmdbReadOnly(folder: string): RecordStore {
  checkRecordFile(folder);
  const file = resolve(folder, RECORD_FILE);
  const beside = temporaryFolder(file);
  try {
    prepareFolder(beside, file);
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

function temporaryFolder(file: string): string {
  try {
    return mkdtempSync(join(tmpdir(), 'coffer-records-'));
  } catch (error) {
    throw noTemporaryFiles(file, tmpdir(), error);
  }
}

function noTemporaryFiles(file: string, folder: string, error: unknown): ProgramError {
  return new ProgramError(
    'record-file',
    `the records in ${file} cannot be opened by way of ${folder}: ${fileErrorReason(error)}. Set TMPDIR to a folder with room for files`,
    { cause: error },
  );
}

function prepareFolder(beside: string, file: string): void {
  const here = join(beside, RECORD_FILE);
  try {
    allocateLockFile(join(beside, LOCK_FILE));
    symlinkSync(file, here);
    if (isMapped(file, beside)) return;
    rmSync(here);
    copyFileSync(file, here);
  } catch (error) {
    throw noTemporaryFiles(file, beside, error);
  }
}

/**
 * Reports if LMDB can map a file into memory. Of the file systems that are not named here, such as FUSE, some cannot, and lmdb-js 3.5 ends the
 * process by SIGSEGV there. So a process of its own tries it.
 */
function isMapped(file: string, beside: string): boolean {
  if (process.platform !== 'linux' || mapping.has(statfsSync(file).type)) return true;
  const script = 'require(process.argv[1]).open({ path: process.argv[2], readOnly: true, noSubdir: false })';
  const lmdb = createRequire(import.meta.url).resolve('lmdb');
  return spawnSync(process.execPath, ['-e', script, lmdb, beside], { stdio: 'ignore' }).status === 0;
}

/** The types of file systems that map files: ext4, XFS, btrfs, tmpfs, overlayfs, ZFS, F2FS, NFS. */
const mapping: ReadonlySet<number> = new Set([
  0xef_53, 0x58_46_53_42, 0x91_23_68_3e, 0x01_02_19_94, 0x79_4c_76_30, 0x2f_c1_2f_c1, 0xf2_f5_20_10, 0x69_69,
]);

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
