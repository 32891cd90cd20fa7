import { ProgramError } from '../../platform/errors/program-error.ts';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { formatApiKey, identityOfPublicKey, type Identity } from '../../protocol/key-service/identity.ts';
import { createFileAtomically, removeUnfinished, writeFileAtomically } from '../../platform/files/atomic-file.ts';
import { type CertificateAndKey, makePrivateKey } from '../../platform/tls/certificate-and-key.ts';
import { issueCertificate, type CertificateRequest } from '../../platform/tls/issue-certificate.ts';
import { parseDuration } from '../config/duration.ts';
import { newPassword } from './key-password.ts';
import { type Terminal } from './terminal.ts';

export interface IdentityNewOptions {
  readonly key?: string;
  readonly cert?: string;
  readonly force?: boolean;
  /** Encrypts the private key with a password. */
  readonly encrypt?: boolean;
  readonly ip: readonly string[];
  readonly dns: readonly string[];
  readonly expiry: string;
}

/** The longest time for which a certificate for testing is valid. */
const maxExpiryMs = 3_650 * 86_400_000;

/** `keysvc identity new`: makes a key and a self-signed certificate, and returns the output. */
export async function newIdentity(
  name: string | undefined,
  options: IdentityNewOptions,
  terminal: Pick<Terminal, 'environment' | 'askSecret'>,
): Promise<string> {
  const { key, cert, ip, dns } = options;
  if ((key === undefined) !== (cert === undefined))
    throw new ProgramError('usage', '--key and --cert go together: give both or neither');
  if (options.encrypt === true && key === undefined)
    throw new ProgramError(
      'usage',
      '--encrypt is for a private key in a file: name one with --key, and --cert for its certificate',
    );
  const validForMs = parseDuration(options.expiry);
  if (validForMs === undefined || validForMs === 0)
    throw new ProgramError('usage', `--expiry "${options.expiry}" is no duration; write for example 720h`);
  if (validForMs > maxExpiryMs)
    throw new ProgramError('usage', `--expiry "${options.expiry}" is longer than 3650d, the maximum`);
  const noAddress = ip.find((address) => isIP(address) === 0);
  if (noAddress !== undefined)
    throw new ProgramError('usage', `--ip "${noAddress}" is no IP address; host names go with --dns`);

  const made = await makeIdentity(name, { validForMs, dnsNames: dns, ipAddresses: ip });
  const password = options.encrypt === true ? await newPassword(terminal) : undefined;
  // The API key is another form of the private key, so it is not printed when that is encrypted.
  const apiKey = password === undefined ? [`API key:  ${made.apiKey}`] : [];
  const lines = [...apiKey, `Identity: ${made.identity}`];
  if (key !== undefined && cert !== undefined) {
    const keyPem = password === undefined ? made.keyPem : encryptedKeyPem(made.keyPem, password);
    await writeIdentity({ certPem: made.certPem, keyPem }, { key, cert }, options.force === true);
    const end = new X509Certificate(made.certPem).validToDate.toISOString();
    lines.push(`Private key: ${key}`, `Certificate: ${cert}`, `For testing: it signs itself, and ends at ${end}`);
  }
  return `${lines.join('\n')}\n`;
}

/** A private key, its self-signed certificate, and the API key and identity of both. */
interface MadeIdentity extends CertificateAndKey {
  readonly apiKey: string;
  readonly identity: Identity;
}

/** The default name is the identity. */
export async function makeIdentity(
  name: string | undefined,
  request: Pick<CertificateRequest, 'validForMs' | 'dnsNames' | 'ipAddresses'>,
): Promise<MadeIdentity> {
  const keyPem = await makePrivateKey('ed25519');
  const identity = identityOfPublicKey(createPublicKey(keyPem));
  const issued = await issueCertificate({ ...request, commonName: name ?? identity, keyPem, forTesting: true });
  return { ...issued, apiKey: formatApiKey(createPrivateKey(keyPem)), identity };
}

/** PKCS#8 with PBES2, which OpenSSL and Node read. */
function encryptedKeyPem(keyPem: string, passphrase: string): string {
  return createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase });
}

/** Writes key and certificate; fails when a file exists, unless `force` replaces it. */
export async function writeIdentity(
  { certPem, keyPem }: CertificateAndKey,
  files: { readonly key: string; readonly cert: string },
  force: boolean,
): Promise<void> {
  await write(files.key, keyPem, 0o600, force);
  await write(files.cert, certPem, 0o644, force);
}

async function write(path: string, pem: string, mode: number, force: boolean): Promise<void> {
  try {
    await removeUnfinished(path);
    await (force ? writeFileAtomically : createFileAtomically)(path, pem, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Error(`${path} exists already: choose another file, or replace it with --force`, { cause: error });
  }
}
