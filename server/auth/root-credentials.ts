import { hkdfSync } from 'node:crypto';
import type { StoredCredentials } from './principal.ts';
import { readTextFile } from '../../platform/settings/read-setting-file.ts';

export interface RootCredentials {
  readonly user: string;
  readonly password: string;
}

/** Returns the root credentials of the settings. They have no record, so that they work without the store. */
export function rootCredentials(root: RootCredentials): StoredCredentials {
  return {
    accessKey: root.user,
    secretKey: root.password,
    principal: { kind: 'root', accessKey: root.user },
  };
}

/** Derives the key that signs session tokens. A new root password ends every session, as MinIO's operators expect. */
export function sessionTokenKey(root: RootCredentials): Uint8Array {
  return new Uint8Array(hkdfSync('sha512', root.password, '', 'coffer session token 1', 64));
}

/** Milliseconds for which the file's content is cached. A previous password can live that much longer. */
const rereadMs = 1_000;

/** Returns the root credentials from before a rotation; undefined if there are none. */
type FormerRoot = (accessKey: string) => Promise<StoredCredentials | undefined>;

/**
 * Reads user and password, one per line, from a file. The rotation empties the file when all servers have the new ones. The function reads
 * it again at most once a second, when a request does not match the current credentials. A missing or incomplete file gives no credentials.
 */
export function createFormerRoot(
  path: string | undefined,
  clock: () => Date,
  read: (path: string) => Promise<string> = readTextFile,
): FormerRoot {
  if (path === undefined) return () => Promise.resolve(undefined);
  let known: { readonly at: number; readonly credentials: Promise<StoredCredentials | undefined> } | undefined;
  return async (accessKey) => {
    const now = clock().getTime();
    if (known === undefined || now - known.at >= rereadMs || now < known.at) {
      known = { at: now, credentials: readFormerRoot(path, read).then(asCredentials) };
    }
    const credentials = await known.credentials;
    return credentials?.accessKey === accessKey ? credentials : undefined;
  };
}

/** Returns undefined for a missing or incomplete file. */
export async function readFormerRoot(
  path: string,
  read: (path: string) => Promise<string> = readTextFile,
): Promise<RootCredentials | undefined> {
  const text = await read(path).catch(() => '');
  const [user = '', password = ''] = text.split(/\r?\n/);
  return user === '' || password === '' ? undefined : { user, password };
}

function asCredentials(root: RootCredentials | undefined): StoredCredentials | undefined {
  if (root === undefined) return undefined;
  return { ...rootCredentials(root), principal: { kind: 'root', accessKey: root.user, former: true } };
}
