import { createPrivateKey } from 'node:crypto';
import { isIP } from 'node:net';
import { formatApiKey } from '../../protocol/key-service/api-key.ts';
import { createFileAtomically, writeFileAtomically } from '../../platform/atomic-file.ts';
import { identityOfCertificate } from '../../platform/certificates/certificate-identity.ts';
import { makePrivateKey } from '../../platform/certificates/certificate-and-key.ts';
import { issueCertificate } from '../../platform/certificates/issue-certificate.ts';
import { parseDuration } from '../config/duration.ts';
import { UsageError } from './usage-error.ts';

export interface IdentityNewOptions {
  readonly key?: string;
  readonly cert?: string;
  readonly force?: boolean;
  readonly ip: readonly string[];
  readonly dns: readonly string[];
  readonly expiry: string;
}

/** `keysvc identity new`: makes a key and a certificate that signs itself. Returns what is printed. */
export async function newIdentity(name: string | undefined, options: IdentityNewOptions): Promise<string> {
  const { key, cert, ip, dns } = options;
  if ((key === undefined) !== (cert === undefined))
    throw new UsageError('--key and --cert go together: give both or neither');
  const validForMs = parseDuration(options.expiry);
  if (validForMs === undefined || validForMs === 0)
    throw new UsageError(`--expiry "${options.expiry}" is no duration; write for example 720h`);
  const noAddress = ip.find((address) => isIP(address) === 0);
  if (noAddress !== undefined) throw new UsageError(`--ip "${noAddress}" is no IP address; host names go with --dns`);

  const keyPem = await makePrivateKey('ed25519');
  const apiKey = formatApiKey(createPrivateKey(keyPem));
  const unnamed = await issueCertificate({
    commonName: name ?? 'identity',
    validForMs,
    keyPem,
    dnsNames: dns,
    ipAddresses: ip,
  });
  const identity = identityOfCertificate(unnamed.certPem);
  const { certPem } =
    name === undefined
      ? await issueCertificate({ commonName: identity, validForMs, keyPem, dnsNames: dns, ipAddresses: ip })
      : unnamed;
  const lines = [`API key:  ${apiKey}`, `Identity: ${identity}`];
  if (key !== undefined && cert !== undefined) {
    await write(key, keyPem, 0o600, options.force === true);
    await write(cert, certPem, 0o644, options.force === true);
    lines.push(`Private key: ${key}`, `Certificate: ${cert}`);
  }
  return `${lines.join('\n')}\n`;
}

async function write(path: string, pem: string, mode: number, force: boolean): Promise<void> {
  try {
    await (force ? writeFileAtomically : createFileAtomically)(path, pem, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Error(`${path} exists already: choose another file, or replace it with --force`, { cause: error });
  }
}
