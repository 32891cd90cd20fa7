import { hkdfSync } from 'node:crypto';
import type { StoredCredentials } from './principal.ts';
import { readFile } from 'node:fs/promises';

export interface RootCredentials {
  readonly user: string;
  readonly password: string;
}

/** The credentials of the settings: no record, so that they work whatever happened to the records. */
export function rootCredentials(root: RootCredentials): StoredCredentials {
  return {
    accessKey: root.user,
    secretKey: root.password,
    principal: { kind: 'root', accessKey: root.user },
  };
}

/** The key that session tokens are signed with: a new root password ends every session, as operators of MinIO expect. */
export function sessionTokenKey(root: RootCredentials): Uint8Array {
  return new Uint8Array(hkdfSync('sha512', root.password, '', 'coffer session token 1', 64));
}

/** Milliseconds for which what was read counts: so long a former password may live on. */
const rereadMs = 1_000;

/** Root credentials of before a rotation, which are good beside those of the settings; undefined when there are none. */
type FormerRoot = (accessKey: string) => Promise<StoredCredentials | undefined>;

/**
 * Reads user and password, a line each, from a file that whoever rotates them empties when all servers have the new ones. It is read again
 * where a request does not fit the root credentials of now, at most once a second; one that cannot be read or is not whole gives none.
 */
export function createFormerRoot(
  path: string | undefined,
  clock: () => Date,
  read: (path: string) => Promise<string> = (file) => readFile(file, 'utf8'),
): FormerRoot {
  if (path === undefined) return () => Promise.resolve(undefined);
  let known: { readonly at: number; readonly credentials: Promise<StoredCredentials | undefined> } | undefined;
  return async (accessKey) => {
    const now = clock().getTime();
    if (known === undefined || now - known.at >= rereadMs || now < known.at) {
      known = { at: now, credentials: read(path).then(parsed, () => undefined) };
    }
    const credentials = await known.credentials;
    return credentials?.accessKey === accessKey ? credentials : undefined;
  };
}

function parsed(text: string): StoredCredentials | undefined {
  const [user = '', password = ''] = text.split(/\r?\n/);
  if (user === '' || password === '') return undefined;
  const credentials = rootCredentials({ user, password });
  return { ...credentials, principal: { kind: 'root', accessKey: user, former: true } };
}
