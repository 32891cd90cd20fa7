import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { DatabaseTls } from '../../../platform/store-address/postgres-address.ts';
import { fileErrorReason } from '../../../platform/errors/system-error.ts';
import { StoreError } from '../store-error.ts';

/** Reads the certificates again for each connection, so that renewed ones are used without a restart. */
export function tlsOptions(mode: DatabaseTls): ConnectionOptions | false {
  if (mode.kind === 'off') return false;
  return {
    ...(mode.rootCert !== undefined && { ca: fileOf('sslrootcert', mode.rootCert) }),
    ...(mode.cert !== undefined && { cert: fileOf('sslcert', mode.cert) }),
    ...(mode.key !== undefined && { key: fileOf('sslkey', mode.key) }),
    // Like libpq, `require` with a root certificate verifies the chain.
    rejectUnauthorized: mode.kind !== 'require' || mode.rootCert !== undefined,
    ...(mode.kind !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

function fileOf(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const setting = option === 'sslrootcert' ? 'sslrootcert (SVC_STORE_RECORDS_CA_FILE)' : option;
    throw new StoreError(
      'unreachable',
      `${setting} of the database names ${path}, which cannot be read: ${fileErrorReason(error)}`,
    );
  }
}
