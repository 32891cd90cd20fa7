import { coffer, encryptedCoffer } from './coffer.ts';
import { minio } from './minio.ts';
import type { ServerName, ServerProgram } from './server-program.ts';
import { versitygw } from './versitygw.ts';

/** Those that `--servers` names. */
export const serverNames: readonly ServerName[] = ['coffer', 'minio', 'versitygw'];

/** `checkout`: where Coffer is started from; this one without it. */
export function serverNamed(name: ServerName, checkout: string | undefined): ServerProgram {
  switch (name) {
    case 'coffer':
      return coffer(checkout);
    case 'coffer-encrypted':
      return encryptedCoffer(checkout);
    case 'minio':
      return minio;
    case 'versitygw':
      return versitygw;
  }
}
