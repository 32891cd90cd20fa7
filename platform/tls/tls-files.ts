import { fileErrorReason } from '../errors/system-error.ts';
import { ProgramError } from '../errors/program-error.ts';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { certificatesIn } from './certificate-chain.ts';

/** The paths of a program's certificate, its key and the authorities that it trusts, as PEM. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** A file, or a folder with `.pem`, `.crt` and `.cer` files. The authorities of the system without it. */
  readonly caFile?: string;
  /** The password of an encrypted private key. */
  readonly password?: string;
}

/** The options for `tls.createSecureContext`. */
export interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca?: Buffer;
  readonly passphrase?: string;
  readonly minVersion: 'TLSv1.2';
  readonly ciphers: string;
}

/**
 * The cipher suites: those of TLS 1.3, and of TLS 1.2 those with forward secrecy that authenticate what they encrypt (AEAD). Suites with CBC
 * have had one padding oracle after the other, and clients of TLS 1.2 know GCM since 2008.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9325#section-4.2
 */
export const cipherSuites = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':');

/** Reads certificate, key and authorities, and checks that they match. Rejects with a `ProgramError` that names the file. */
export async function readTlsFiles(files: TlsFiles): Promise<TlsMaterial> {
  const cert = await readPem(files.certFile, 'the certificate');
  const key = await readPem(files.keyFile, 'the private key');
  const ca = files.caFile === undefined ? undefined : await readAuthorities(files.caFile);
  const material: TlsMaterial = {
    cert,
    key,
    ...(ca === undefined ? {} : { ca }),
    ...(files.password === undefined ? {} : { passphrase: files.password }),
    minVersion: 'TLSv1.2',
    ciphers: cipherSuites,
  };
  checkPair(files, material);
  return material;
}

function checkPair(files: TlsFiles, material: TlsMaterial): void {
  checkTlsPair({
    cert: { name: files.certFile, pem: material.cert },
    key: { name: files.keyFile, pem: material.key },
    ...(files.password === undefined ? {} : { password: files.password }),
  });
  parse(files.caFile ?? files.certFile, 'usable by TLS', () => createSecureContext(material));
}

/** The text of a file, and how a message calls it. */
interface NamedPem {
  readonly name: string;
  readonly pem: Buffer;
}

/** Checks that a server can use the certificate with the key. Throws a `ProgramError` that names the one which is wrong. */
export function checkTlsPair({
  cert,
  key,
  password,
}: {
  readonly cert: NamedPem;
  readonly key: NamedPem;
  readonly password?: string;
}): void {
  const certificate = parse(cert.name, 'a PEM certificate', () => new X509Certificate(cert.pem));
  const secret = password === undefined ? {} : { passphrase: password };
  const privateKey = parse(
    key.name,
    password === undefined ? 'an unencrypted PEM private key' : 'a private key of that password',
    () => createPrivateKey({ key: key.pem, ...secret }),
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    if (certificatesIn(cert.pem).some((other) => other.checkPrivateKey(privateKey))) {
      throw new ProgramError(
        'tls-files',
        `the certificates in ${cert.name} are in the wrong order: that of the key in ${key.name} must be the first one, and its issuer the next`,
      );
    }
    throw new ProgramError(
      'tls-files',
      `the private key in ${key.name} is not that of the certificate in ${cert.name}`,
    );
  }
  parse(cert.name, 'usable by TLS', () => createSecureContext({ cert: cert.pem, key: key.pem, ...secret }));
}

function parse<T>(file: string, what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ProgramError('tls-files', `${file} is not ${what}: ${(error as Error).message}`, { cause: error });
  }
}

async function readPem(file: string, what: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new ProgramError('tls-files', `cannot read ${what} ${file}: ${fileErrorReason(error)}`, { cause: error });
  }
}

/** Reads the authorities in a file, or in all `.pem`, `.crt` and `.cer` files of a folder. Rejects if there is no certificate. */
export async function readAuthorities(path: string): Promise<Buffer> {
  const names = await authorityFiles(path);
  if (names.length === 0) throw new ProgramError('tls-files', `the folder ${path} holds no .pem, .crt or .cer file`);
  const parts = await Promise.all(names.map((name) => readPem(name, 'the certificate authorities')));
  const ca = Buffer.concat(parts.flatMap((part) => [part, Buffer.from('\n')]));
  // A file that is read between its truncation and its write would switch all trust off.
  checkAuthorities(path, ca);
  return ca;
}

/** Throws a `ProgramError` where a text has no certificate. */
export function checkAuthorities(name: string, pem: Buffer): void {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) {
    throw new ProgramError('tls-files', `${name} holds no PEM certificate`);
  }
}

async function authorityFiles(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => /\.(pem|crt|cer)$/i.test(name));
    return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw new ProgramError('tls-files', `cannot read the certificate authorities ${path}: ${fileErrorReason(error)}`, {
      cause: error,
    });
  }
}
