import { access, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import { checkUrl } from '../../config/aliases.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { startHandshake, type TlsHandshake, type ServerCertificate } from '../../s3/connection/server-certificate.ts';
import { textFields } from '../../terminal/format.ts';
import { printable } from '../../../platform/text/printable.ts';
import { confirm, canAsk } from '../../terminal/prompt.ts';
import type { Context } from '../context.ts';

export interface TrustOptions {
  /** The fingerprint of the server's public key, for scripts: the certificate is trusted without a question. */
  readonly trust?: string;
}

/**
 * Returns the URL of a server that may be used: with its scheme, and for https after the user trusts its certificate. Without a scheme it
 * tries https, and asks before it uses http.
 *
 * @throws ProgramError BadArgument, Untrusted
 */
export async function trustedUrl(context: Context, name: string, text: string, options: TrustOptions): Promise<string> {
  const expected = fingerprintOf(options.trust);
  const written = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const url = checkUrl(written ? text : `https://${text}`);
  if (!url.startsWith('https:')) {
    if (expected === undefined) return url;
    throw new ProgramError('BadArgument', `--trust is for https, not for \`${url}\``);
  }
  const settings = await context.connectionSettings();
  if (settings.insecure && written) return url;
  const handshake = await tryHandshake(context, url, written);
  if (handshake.kind === 'plain') return askForHttp(context, url, written);
  const { certificate, refusal } = handshake;
  if (expected !== undefined && expected !== certificate.fingerprint) {
    throw new ProgramError(
      'Untrusted',
      `The public key of ${url} has the fingerprint ${certificate.fingerprint}, not the one of --trust; it is not trusted`,
    );
  }
  if (refusal === undefined || settings.insecure) return url;
  if (refusal.kind !== 'authority') throw cannotTrust(url, certificate, refusal);
  if (expected === undefined) await askForTrust(context, name, url, certificate);
  await keep(context, name, certificate);
  return url;
}

async function tryHandshake(context: Context, url: string, written: boolean): Promise<TlsHandshake> {
  try {
    return await startHandshake(url, await context.connectionSettings(), context.signal);
  } catch (error) {
    // Without a port http is elsewhere: nothing on port 443 says nothing about port 80.
    if (!written && new URL(url).port === '' && (error as NodeJS.ErrnoException).code === 'ECONNREFUSED') {
      return { kind: 'plain' };
    }
    throw new ProgramError('Failed', `Unable to connect to ${url}`, { cause: error });
  }
}

async function askForHttp(context: Context, url: string, written: boolean): Promise<string> {
  const plain = url.replace(/^https:/, 'http:');
  if (written)
    throw new ProgramError('Failed', `The server at ${url} does not speak TLS: if it is the right one, write ${plain}`);
  if (!canAsk(context.io)) {
    throw new ProgramError(
      'Untrusted',
      `The server at ${new URL(url).host} does not speak TLS: to use it without encryption write ${plain}`,
    );
  }
  const question = `${new URL(url).host} does not speak TLS. Everybody on the way can read what is sent, except secret keys. Use ${plain}? y/N: `;
  if (await confirm(context.io, question)) return plain;
  throw new ProgramError('Untrusted', `Nothing was saved: the server at ${new URL(url).host} does not speak TLS`);
}

async function askForTrust(context: Context, name: string, url: string, certificate: ServerCertificate): Promise<void> {
  const { fingerprint } = certificate;
  if (!canAsk(context.io)) {
    throw new ProgramError(
      'Untrusted',
      `No known authority vouches for the certificate of ${url} (public key ${fingerprint}): compare this fingerprint with the server's own, ` +
        `and repeat the command with --trust ${fingerprint}; or put the certificate of the authority into ${join(context.folders.certs, 'CAs')}`,
    );
  }
  const before = (await isKept(context, name))
    ? `This is not the certificate that was trusted before for ${name}.\n`
    : '';
  context.io.stderr.write(
    `No known authority vouches for the certificate of ${url}:\n\n${describe(certificate)}\n\n${before}`,
  );
  const question = `Compare the fingerprint with the server's own. Trust this certificate for ${name}? y/N: `;
  if (await confirm(context.io, question)) return;
  throw new ProgramError('Untrusted', `Nothing was saved: the certificate of ${url} is not trusted`);
}

function describe(certificate: ServerCertificate): string {
  const { subject, issuer, selfSigned, names, validFrom, validTo, fingerprint } = certificate;
  const fields = textFields({
    'Issued to': subject === '' ? '(no name)' : subject,
    'Issued by': selfSigned ? 'itself' : issuer,
    Names: names.join(', '),
    Valid: `${day(validFrom)} to ${day(validTo)}`,
    'Fingerprint of the public key': fingerprint,
  });
  return fields.replaceAll(/^/gm, '  ');
}

function cannotTrust(
  url: string,
  certificate: ServerCertificate,
  refusal: { readonly kind: 'name' | 'time' | 'other'; readonly error: Error },
): ProgramError {
  const { names, validFrom, validTo } = certificate;
  const what = {
    name: `is for ${printable(names.join(', ')) || 'no host'}: use one of these names, where needed with --resolve NAME=IP`,
    time: `is valid from ${day(validFrom)} to ${day(validTo)}: the server needs a new one, or a clock is wrong`,
    other: 'cannot be verified',
  }[refusal.kind];
  return new ProgramError('Untrusted', `The certificate of ${url} ${what}`, { cause: refusal.error });
}

function pathOf({ folders }: Context, name: string): string {
  return join(folders.certs, 'CAs', `${name}.crt`);
}

async function isKept(context: Context, name: string): Promise<boolean> {
  return access(pathOf(context, name)).then(
    () => true,
    () => false,
  );
}

async function keep(context: Context, name: string, { pem }: ServerCertificate): Promise<void> {
  const path = pathOf(context, name);
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFileAtomically(path, pem, { mode: 0o600 });
  } catch (error) {
    throw new ProgramError('BadConfig', `Unable to write \`${path}\``, { cause: error });
  }
}

/** Reads a fingerprint as tools write it: `AB:CD:…`, `sha256:abcd…`, or plain. */
function fingerprintOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const hex = text
    .replace(/^sha-?256[:=]/i, '')
    .replaceAll(':', '')
    .toLowerCase();
  if (/^[0-9a-f]{64}$/.test(hex)) return hex;
  throw new ProgramError(
    'BadArgument',
    `Invalid --trust \`${text}\`: it is the SHA-256 of the public key, 64 hexadecimal digits`,
  );
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
