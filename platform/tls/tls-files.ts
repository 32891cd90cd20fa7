import { fileErrorReason } from '../system-error.ts';
import { ProgramError } from '../program-error.ts';
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
  const certificate = parse(files.certFile, 'a PEM certificate', () => new X509Certificate(material.cert));
  const key = parse(
    files.keyFile,
    files.password === undefined ? 'an unencrypted PEM private key' : 'a private key of that password',
    () =>
      createPrivateKey({ key: material.key, ...(files.password === undefined ? {} : { passphrase: files.password }) }),
  );
  if (!certificate.checkPrivateKey(key)) {
    if (certificatesIn(material.cert).some((other) => other.checkPrivateKey(key))) {
      throw new ProgramError(
        'tls-files',
        `the certificates in ${files.certFile} are in the wrong order: that of the key in ${files.keyFile} must be the first one, and its issuer the next`,
      );
    }
    throw new ProgramError(
      'tls-files',
      `the private key in ${files.keyFile} is not that of the certificate in ${files.certFile}`,
    );
  }
  parse(files.caFile ?? files.certFile, 'usable by TLS', () => createSecureContext(material));
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
  if (!ca.includes('-----BEGIN CERTIFICATE-----'))
    throw new ProgramError('tls-files', `${path} holds no PEM certificate`);
  return ca;
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
