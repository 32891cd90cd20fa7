import { ProgramError } from '../errors/program-error.ts';
import { join, resolve } from 'node:path';
import { formatDatabaseUrl, parseDatabaseUrl } from './database-url.ts';
import { parsePostgresAddress } from './postgres-address.ts';
import type { StoreSettings } from '../settings/server-settings.ts';

/** The location of the records: `SVC_STORE_RECORDS`, parsed. */
export type RecordsAddress =
  | { readonly kind: 'lmdb'; readonly folder: string }
  /** `url` is `postgres://USER@HOST:PORT/DATABASE?OPTIONS` without a password, so that it may be logged. */
  | {
      readonly kind: 'postgres';
      readonly url: string;
      readonly password?: string;
      /** The file that holds the password, if one does. */
      readonly passwordFile?: string;
    };

/** The location of the bodies: `SVC_STORE_BLOBS` and its companions, parsed. */
export type BlobsAddress =
  | { readonly kind: 'files'; readonly folder: string }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Empty, or ends with a slash. */
      readonly prefix: string;
      /** The endpoint of AWS by default. */
      readonly endpoint?: string;
      /** The file of certificate authorities (PEM) to trust in addition to those of the system. */
      readonly caFile?: string;
      readonly region: string;
      readonly accessKey: string;
      readonly secretKey: string;
      /** The files that hold the keys, if files do. */
      readonly accessKeyFile?: string;
      readonly secretKeyFile?: string;
    };

/** The locations of a server's stores, and the folders that it must lock. */
export interface StorePlaces {
  readonly records: RecordsAddress;
  readonly blobs: BlobsAddress;
  /** Data folders, that of the records first. Empty if both stores are shared. */
  readonly dataFolders: readonly string[];
}

/**
 * Parses `SVC_STORE_*`. A store that has no setting is in the data folder. `lmdb:FOLDER` names a data folder whose records are in
 * `FOLDER/records`; `files:FOLDER` holds the blobs themselves. Both may name the data folder.
 *
 * @throws ProgramError
 */
export function storePlaces(settings: StoreSettings, dataFolder: string | undefined): StorePlaces {
  const own = dataFolder === undefined ? undefined : resolve(dataFolder);
  const needed = (setting: string): string => {
    if (own !== undefined) return own;
    throw new ProgramError(
      'store-address',
      `no data folder is named: give it as an argument (coffer-server DIR) or in SVC_VOLUMES, or say in ${setting} where else`,
    );
  };
  const folders = new Set<string>();

  let records: RecordsAddress;
  const home = folderOf(settings.records ?? 'lmdb:', 'lmdb:');
  if (home === undefined) {
    records = databaseOf(settings);
  } else {
    const owned = home === '' ? needed('SVC_STORE_RECORDS') : home;
    const dataHome = own !== undefined && owned === join(own, 'records') ? own : owned;
    folders.add(dataHome);
    records = { kind: 'lmdb', folder: join(dataHome, 'records') };
  }

  let blobs: BlobsAddress;
  const folder = folderOf(settings.blobs ?? 'files:', 'files:');
  if (folder === undefined) {
    blobs = bucketOf(settings);
  } else {
    const named = folder === '' ? needed('SVC_STORE_BLOBS') : folder;
    const within = own !== undefined && [own, join(own, 'blobs')].includes(named);
    if (within) folders.add(own);
    blobs = { kind: 'files', folder: within ? join(own, 'blobs') : named };
  }
  return { records, blobs, dataFolders: [...folders] };
}

/** Describes an address for logs. */
export function describeAddress(address: RecordsAddress | BlobsAddress): string {
  switch (address.kind) {
    case 'lmdb':
    case 'files':
      return address.folder;
    case 'postgres':
      // Options may have what belongs in no log.
      return address.url.replace(/\?.*$/u, '');
    case 's3':
      return `s3://${address.bucket}/${address.prefix}${address.endpoint === undefined ? '' : ` at ${address.endpoint}`}`;
  }
}

/** Returns the folder of an address, '' for the data folder, or undefined if the address is not a folder. */
function folderOf(address: string, scheme: 'lmdb:' | 'files:'): string | undefined {
  const named = address.startsWith(scheme);
  if (!named && !address.startsWith('/')) return undefined;
  // The URL form is lmdb:///folder.
  const path = (named ? address.slice(scheme.length) : address).replace(/^\/\/(?=\/)/, '');
  return path === '' ? '' : resolve(path);
}

function databaseOf({ records, recordsPassword, recordsPasswordFile, recordsCaFile }: StoreSettings): RecordsAddress {
  const url = parseDatabaseUrl(records ?? '');
  if (url === undefined || url.user === '') {
    throw new ProgramError(
      'store-address',
      'SVC_STORE_RECORDS is not the address of a database: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, with /, ?, @, : and # in the ' +
        'password written as %2F, %3F, %40, %3A and %23 (or the password in SVC_STORE_RECORDS_PASSWORD), or lmdb:FOLDER',
    );
  }
  const { options } = url;
  const written = url.password === '' ? (options.get('password') ?? undefined) : decoded(url.password);
  if (written !== undefined && recordsPassword !== undefined) {
    throw new ProgramError(
      'store-address',
      'SVC_STORE_RECORDS_PASSWORD is set, and SVC_STORE_RECORDS has a password too: give it in one of them',
    );
  }
  if (recordsCaFile !== undefined) nameAuthorities(options, recordsCaFile);
  const password = recordsPassword ?? written;
  const address = formatDatabaseUrl(url);
  // Its options, too, before anything listens.
  parsePostgresAddress(address);
  return {
    kind: 'postgres',
    url: address,
    ...(password === undefined ? {} : { password }),
    ...(recordsPasswordFile !== undefined && { passwordFile: resolve(recordsPasswordFile) }),
  };
}

function nameAuthorities(options: URLSearchParams, file: string): void {
  if (options.has('sslrootcert')) {
    throw new ProgramError(
      'store-address',
      'SVC_STORE_RECORDS_CA_FILE is set, and SVC_STORE_RECORDS has sslrootcert too: give it in one of them',
    );
  }
  if (options.get('sslmode') === 'disable') {
    throw new ProgramError(
      'store-address',
      'SVC_STORE_RECORDS_CA_FILE is set, and SVC_STORE_RECORDS has sslmode=disable, with which the server shows no certificate: leave one of them out',
    );
  }
  options.set('sslrootcert', file);
}

function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    throw new ProgramError(
      'store-address',
      'the password in SVC_STORE_RECORDS has a % that begins no character: write it as %25, or give the password in SVC_STORE_RECORDS_PASSWORD',
    );
  }
}

function bucketOf({ blobs = '', s3 }: StoreSettings): BlobsAddress {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(blobs) ?? [];
  if (bucket === undefined) {
    throw new ProgramError(
      'store-address',
      `SVC_STORE_BLOBS is ${blobs}: expected s3://BUCKET/PREFIX with the name of a bucket, files:FOLDER, or the path of a folder`,
    );
  }
  const { endpoint, caFile, region, accessKey, secretKey, accessKeyFile, secretKeyFile } = s3;
  if (accessKey === undefined || secretKey === undefined) {
    const missing = [
      ...(accessKey === undefined ? ['SVC_STORE_BLOBS_S3_ACCESS_KEY'] : []),
      ...(secretKey === undefined ? ['SVC_STORE_BLOBS_S3_SECRET_KEY'] : []),
    ];
    throw new ProgramError(
      'store-address',
      `SVC_STORE_BLOBS is ${blobs}, and ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not set: ` +
        'the credentials at that other S3 are needed',
    );
  }
  const prefix = path.split('/').filter((part) => part !== '');
  return {
    kind: 's3',
    bucket,
    prefix: prefix.length === 0 ? '' : `${prefix.join('/')}/`,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(caFile === undefined ? {} : { caFile }),
    region,
    accessKey,
    secretKey,
    ...(accessKeyFile !== undefined && { accessKeyFile: resolve(accessKeyFile) }),
    ...(secretKeyFile !== undefined && { secretKeyFile: resolve(secretKeyFile) }),
  };
}
