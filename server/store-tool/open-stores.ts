import { ProgramError } from '../../platform/errors/program-error.ts';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '../../platform/output/logger.ts';
import { loadStoreSettings } from '../../platform/settings/load-settings.ts';
import type { StoreSettings } from '../../platform/settings/server-settings.ts';
import type { BlobStore } from '../store/blob-store.ts';
import { openDataFolder, openDataFolderReadOnly, UNFINISHED_RESTORE, unfinishedRestore } from '../store/data-folder.ts';
import { type BlobsMarker, blobsMarker } from '../store/blobs-marker.ts';
import { decodeDeployment, deploymentKey } from '../store/deployment.ts';
import { isPathWithin } from '../maintenance/path-within.ts';
import { openBlobStore, openRecordStore } from '../store/open-stores.ts';
import { describeAddress, storePlaces, type StorePlaces } from '../../platform/store-address/store-address.ts';
import { RECORD_FILE } from '../store/lmdb/environment.ts';
import { checkRecordFile } from '../store/lmdb/read-only.ts';
import { isReadOnly } from '../store/commits.ts';
import type { RecordStore } from '../store/record-store.ts';

/** The two stores of a deployment that an argument names. */
export interface OpenedStores {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  readonly places: StorePlaces;
  readonly marker: BlobsMarker;
  readonly description: string;
  /** True if no other process can change them while they are open here. */
  readonly locked: boolean;
  /** Returns the ID in the records, or that of the data folder. Undefined for new stores. */
  deploymentId(): Promise<string | undefined>;
  close(): Promise<void>;
}

interface OpenOptions {
  /** True to change nothing. */
  readonly reads?: boolean;
  /** True where stores will do that a server serves and does not change. */
  readonly readOnlyWillDo?: boolean;
  readonly mayBeNew?: boolean;
  /** Folders that no folder of these stores may be, or lie in. */
  readonly outside?: readonly string[];
  /** True where servers may use a database meanwhile. */
  readonly mayBeServed?: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Opens the stores that an argument names: a data folder, or a file of settings as servers read it with `SVC_STORE_…`. Without an
 * argument, it reads the environment. `overrides` are the options `--records` and `--blobs`.
 */
export async function openNamedStores(
  argument: string | undefined,
  env: Env,
  overrides: { readonly records?: string; readonly blobs?: string } = {},
  { reads = false, readOnlyWillDo = false, mayBeNew = false, mayBeServed = false, outside = [] }: OpenOptions = {},
): Promise<OpenedStores> {
  for (const [option, address] of Object.entries(overrides)) refusePassword(`--${option}`, address);
  const { settings, folder } = settingsOf(argument, env);
  const places = storePlaces({ ...settings, ...overrides }, folder);
  await checkFolders(places, { mayBeNew, outside });
  const { folders, locked } = await lockFolders(places, { reads, readOnlyWillDo });
  const log = createLogger({ name: 'coffer-store', level: 'error' });
  try {
    // A server that has the folder writes its own records: LMDB must know of this reader.
    const readOnly = reads && (locked || places.records.kind !== 'lmdb');
    if (locked && !readOnly) checkRecords(places, mayBeNew);
    const records = await openRecordStore(places.records, { log, readOnly });
    try {
      if (!locked && !mayBeServed && !(await isReadOnly(records))) throw served(places);
      return {
        records,
        blobs: await openBlobStore(places.blobs, { log }),
        places,
        marker: await blobsMarker(places.blobs),
        description: `${describeAddress(places.records)} and ${describeAddress(places.blobs)}`,
        locked: locked && places.records.kind === 'lmdb',
        async deploymentId() {
          const entry = await records.get(deploymentKey);
          if (entry !== undefined) return decodeDeployment(entry.value, describeAddress(places.records)).deploymentId;
          return folders[0]?.deploymentId;
        },
        async close() {
          await records.close();
          await Promise.all(folders.map((one) => one.close()));
        },
      };
    } catch (error) {
      await records.close();
      throw error;
    }
  } catch (error) {
    await Promise.all(folders.map((one) => one.close()));
    throw error;
  }
}

/** Refuses a password among the arguments, since every user of the machine can read it. */
function refusePassword(option: string, address: string | undefined): void {
  if (address === undefined || !/^[a-z]+:\/\/[^/@\s]*:[^/@\s]*@/.test(address)) return;
  throw new ProgramError(
    'usage',
    `${option} holds a password, which every user of this machine could read among the arguments: leave it out, and give it in ` +
      'SVC_STORE_RECORDS_PASSWORD_FILE or SVC_STORE_RECORDS_PASSWORD, or name a file of settings instead',
  );
}

function settingsOf(
  argument: string | undefined,
  env: Env,
): { readonly settings: StoreSettings; readonly folder: string | undefined } {
  if (argument === undefined) {
    const { stores, dataFolder } = loadStoreSettings({ env });
    return { settings: stores, folder: dataFolder };
  }
  refusePassword('the argument', argument);
  if (isFile(argument)) {
    // Only the file counts, because the two stores of a copy may need different credentials.
    const { stores, dataFolder } = loadStoreSettings({ env: { SVC_CONFIG_ENV_FILE: argument } });
    return { settings: stores, folder: dataFolder };
  }
  const noStores = loadStoreSettings({ env: { SVC_CONFIG_ENV_FILE: argument }, readFile: () => '' });
  return { settings: noStores.stores, folder: argument };
}

function isFile(path: string): boolean {
  if (/^[a-z0-9]+:/.test(path)) {
    throw new ProgramError(
      'usage',
      `${path} is an address: name a data folder, or a file of settings with SVC_STORE_RECORDS and SVC_STORE_BLOBS`,
    );
  }
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Refuses a missing folder, because opening it would make a new one. */
function refuseUnlessData(folder: string): void {
  if (existsSync(join(folder, 'format.json'))) return;
  if (existsSync(join(folder, UNFINISHED_RESTORE))) throw new ProgramError('failed', unfinishedRestore(folder));
  throw new ProgramError(
    'failed',
    `${folder} is not a data folder of Coffer: it has no format.json. Is the path right, and is it mounted?`,
  );
}

async function checkFolders(
  { dataFolders }: StorePlaces,
  { mayBeNew, outside }: Required<Pick<OpenOptions, 'mayBeNew' | 'outside'>>,
): Promise<void> {
  for (const data of dataFolders) {
    if (!mayBeNew) refuseUnlessData(data);
    await refuseWithin(data, outside);
  }
}

async function refuseWithin(data: string, outside: readonly string[]): Promise<void> {
  for (const folder of outside) {
    if (!(await isPathWithin(data, folder))) continue;
    throw new ProgramError(
      'failed',
      `the target ${data} is the source ${folder}, or lies in it: name a folder elsewhere`,
    );
  }
}

/** LMDB would make a new file in the place of a missing one, and end the process where one is damaged. */
function checkRecords({ records }: StorePlaces, mayBeNew: boolean): void {
  if (records.kind !== 'lmdb' || (mayBeNew && !existsSync(join(records.folder, RECORD_FILE)))) return;
  checkRecordFile(records.folder);
}

async function lockFolders(
  places: StorePlaces,
  { reads, readOnlyWillDo }: Required<Pick<OpenOptions, 'reads' | 'readOnlyWillDo'>>,
) {
  const folders = [];
  try {
    for (const folder of places.dataFolders)
      folders.push(await (reads ? openDataFolderReadOnly(folder) : openDataFolder(folder)));
    return { folders, locked: true };
  } catch (error) {
    await Promise.all(folders.map((folder) => folder.close()));
    if (!(error instanceof ProgramError && error.code === 'in-use')) throw error;
    if (readOnlyWillDo) return { folders: places.dataFolders.map(formatOnly), locked: false };
    throw new ProgramError('failed', `${error.message}. To work on a server that runs, ask it: --server URL`, {
      cause: error,
    });
  }
}

/** Reads the format of a folder that a read-only server has locked. */
function formatOnly(folder: string) {
  const { deploymentId } = JSON.parse(readFileSync(join(folder, 'format.json'), 'utf8')) as { deploymentId: string };
  return { deploymentId, close: () => Promise.resolve() };
}

function served(places: StorePlaces): ProgramError {
  return new ProgramError(
    'failed',
    `${describeAddress(places.records)} is served and takes changes: stop its server, or make it read-only first ` +
      '(coffer-store read-only on --server URL)',
  );
}
