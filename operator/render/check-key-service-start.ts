import { stringify } from 'yaml';
import { parseConfig } from '../../keysvc/config/config-file.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { checkAuthorities } from '../../platform/tls/tls-files.ts';
import type { Secret } from '../contract/secret.ts';
import { ResourceError } from '../api/resource-error.ts';
import { resolveDocument } from '../contract/resolve.ts';
import type { FileContent, Workload } from '../contract/workload.ts';

/**
 * Reads the configuration of a key service with the code of its start. One that is running goes on; one that got what is refused here would end
 * at its start. Errors with a `ResourceError`.
 */
export function checkKeyServiceStart(workload: Workload, secrets: ReadonlyMap<string, Secret>): void {
  const { owner } = workload;
  const where = `${owner.kind} ${owner.name}`;
  const symbols = {
    listen: () => '0.0.0.0:443',
    address: (of: string) => `${of}:443`,
    mountPath: (mount: string) => `/mounted/${mount}`,
    secret: (name: string, key: string) => secrets.get(name)?.data[key] ?? '',
    certificate: () => '',
  };
  for (const mount of workload.mounts) {
    for (const { path, content } of mount.kind === 'files' ? mount.files : []) {
      if (content.kind === 'yaml') {
        const text = stringify(resolveDocument(content.document, workload, symbols));
        refuse(where, () => parseConfig(text, {}));
      } else if (path === 'gcp.json') {
        checkKeyFile(content, symbols.secret);
      } else if (path === 'ca.crt' && content.kind === 'text') {
        refuse(where, () => checkAuthorities('caBundleFrom of its keystore', Buffer.from(content.text)));
      }
    }
  }
}

function refuse(where: string, parse: () => unknown): void {
  try {
    parse();
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    throw new ResourceError('InvalidSettings', `the key service of ${where} would not start: ${error.message}`);
  }
}

/** The library of Google reads the file when it logs in, and names neither the Secret nor what is wrong. */
function checkKeyFile(content: FileContent, valueOf: (name: string, key: string) => string): void {
  if (content.kind !== 'secret' || isKeyFile(valueOf(content.secret, content.key))) return;
  throw new ResourceError(
    'SecretInvalid',
    `${content.key} of the Secret ${content.secret} is not the key file (JSON) of a service account of Google, which has a type`,
  );
}

function isKeyFile(text: string): boolean {
  try {
    const file: unknown = JSON.parse(text);
    return typeof file === 'object' && file !== null && 'type' in file;
  } catch {
    return false;
  }
}
