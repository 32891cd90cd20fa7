import { hkdfSync } from 'node:crypto';
import type { StoredCredentials } from './principal.ts';

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
