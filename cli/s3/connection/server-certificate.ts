import { isUnknownAuthority } from '../../../platform/tls/unknown-authority.ts';
import { createHash, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { checkServerIdentity, connect, type TLSSocket } from 'node:tls';
import { trustOptions, type ConnectionSettings } from './connections.ts';
import { lookupFor } from './resolve-hosts.ts';

/** The certificate of a server. */
export interface ServerCertificate {
  readonly pem: string;
  readonly subject: string;
  readonly issuer: string;
  readonly selfSigned: boolean;
  /** DNS names and addresses. */
  readonly names: readonly string[];
  readonly validFrom: Date;
  readonly validTo: Date;
  /** SHA-256 of the public key (its SPKI structure), in hexadecimal. */
  readonly fingerprint: string;
}

/** The certificates that a server shows to a TLS client. */
export type TlsHandshake =
  | { readonly kind: 'plain' }
  | {
      readonly kind: 'tls';
      readonly certificate: ServerCertificate;
      /** The reason not to trust it. */
      readonly refusal?: TrustRefusal;
    };

/** `authority` can be mended by trusting the certificate; the others cannot. */
type TrustRefusal =
  { readonly kind: 'authority' } | { readonly kind: 'name' | 'time' | 'other'; readonly error: Error };

/** Milliseconds. */
const timeoutMs = 10_000;

/**
 * Connects to a server and returns its certificate, and whether it is trusted. Sends no request.
 *
 * @throws the error of the connection, if nothing listens there
 */
export async function startHandshake(
  url: string,
  settings: ConnectionSettings,
  signal: AbortSignal,
): Promise<TlsHandshake> {
  const { hostname, port } = new URL(url);
  const host = hostname.replaceAll(/[[\]]/g, '');
  const lookup = lookupFor(settings.resolutions, Number(port || 443));
  const socket = connect({
    host,
    port: Number(port || 443),
    // The name of a server is never an address (RFC 6066, 3).
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(lookup === undefined ? {} : { lookup }),
    ...(await trustOptions(settings.certs)),
    // The caller decides. Nothing is sent on this connection.
    rejectUnauthorized: false,
  });
  const abort = () => socket.destroy(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await handshakeOf(socket, host);
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

async function handshakeOf(socket: TLSSocket, host: string): Promise<TlsHandshake> {
  let connected = false;
  socket.once('connect', () => (connected = true));
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', resolve);
      socket.on('error', reject);
      socket.setTimeout(timeoutMs, () => {
        reject(Object.assign(new Error(`Nothing came within ${timeoutMs / 1_000} seconds`), { code: 'ETIMEDOUT' }));
      });
    });
  } catch (error) {
    if (connected && isNoTls(error)) return { kind: 'plain' };
    throw error;
  }
  const { raw } = socket.getPeerCertificate();
  const certificate = describeCertificate(new X509Certificate(raw));
  const refusal = refusalOf(socket, certificate, host);
  return { kind: 'tls', certificate, ...(refusal === undefined ? {} : { refusal }) };
}

/** A server without TLS answers with a text, closes the connection, or waits for a request. */
function isNoTls(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|ECONNRESET|EPIPE|EPROTO|ETIMEDOUT/.test(code ?? '');
}

function refusalOf(socket: TLSSocket, certificate: ServerCertificate, host: string): TrustRefusal | undefined {
  // Name and time count for a certificate that the user trusts, too.
  const wrongName = checkServerIdentity(host, socket.getPeerCertificate());
  if (wrongName !== undefined) return { kind: 'name', error: wrongName };
  const now = Date.now();
  if (now < certificate.validFrom.getTime() || now > certificate.validTo.getTime()) {
    return { kind: 'time', error: new Error('The certificate is not valid now') };
  }
  if (socket.authorized) return undefined;
  const code = String(socket.authorizationError);
  if (isUnknownAuthority(code)) return { kind: 'authority' };
  return { kind: 'other', error: new Error(`The certificate cannot be verified (${code})`) };
}

function describeCertificate(certificate: X509Certificate): ServerCertificate {
  const spki = certificate.publicKey.export({ type: 'spki', format: 'der' });
  return {
    pem: certificate.toString(),
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    // `checkIssued` is false for one that is not that of an authority.
    selfSigned: certificate.subject === certificate.issuer && certificate.verify(certificate.publicKey),
    names: namesOf(certificate.subjectAltName),
    validFrom: new Date(certificate.validFrom),
    validTo: new Date(certificate.validTo),
    fingerprint: createHash('sha256').update(spki).digest('hex'),
  };
}

/** Node has a line for each part. The property is undefined for a certificate without a subject, whatever its type says. */
function oneLine(name: string | undefined): string {
  return (name ?? '').split('\n').filter(Boolean).join(', ');
}

/** Parses `DNS:a.example, IP Address:10.0.0.1`. */
function namesOf(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(', ')
    .map((name) => name.replace(/^(?:DNS|IP Address):/, ''))
    .filter((name) => name !== '');
}
