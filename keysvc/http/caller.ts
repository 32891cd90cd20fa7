import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { plainAddress } from '../../protocol/policy/ip-range.ts';
import type { TlsProxies } from '../config/config.ts';
import { distrustOf } from '../../platform/tls/client-certificate.ts';
import { clientIdentity, identityOfLeaf, untrusted, type ClientIdentity } from './client-identity.ts';

/** Reads the certificates that a TLS proxy forwards, in their order; undefined where the header is invalid. */
export function readForwardedCertificates(header: string): X509Certificate[] | undefined {
  let pem: string;
  try {
    // The header is URL-encoded, since it cannot have line breaks.
    pem = decodeURIComponent(header);
  } catch {
    return undefined;
  }
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return undefined;
  }
}

/** The identity and the address of a caller. */
export interface Caller {
  readonly client: ClientIdentity;
  readonly ip: string | undefined;
}

interface CallerOptions {
  readonly verify: boolean;
  readonly proxies: TlsProxies;
  /** The authorities of forwarded certificates, where clients are verified. */
  readonly authorities: () => readonly X509Certificate[];
  readonly now: () => number;
}

/**
 * Returns a function that identifies the caller: by the certificate of the connection or, for a trusted proxy, by the certificate that it
 * forwards.
 */
export function createCallerIdentifier(options: CallerOptions): (request: IncomingMessage) => Caller {
  const known = new WeakMap<TLSSocket, ClientIdentity>();
  const { proxies } = options;
  return (request) => {
    const socket = request.socket as TLSSocket;
    let client = known.get(socket);
    if (client === undefined) {
      client = clientIdentity(socket, options);
      known.set(socket, client);
    }
    const ip = socket.remoteAddress;
    if (client.kind !== 'known' || !proxies.identities.has(client.identity)) return { client, ip };
    return { client: behindProxy(request, options), ip: forwardedAddress(request) ?? ip };
  };
}

function behindProxy(request: IncomingMessage, options: CallerOptions): ClientIdentity {
  const { certHeader } = options.proxies;
  const header = request.headers[certHeader];
  if (typeof header !== 'string' || header === '') {
    const reason = `the TLS proxy sent no client certificate in the header ${certHeader}`;
    return { kind: 'unknown', refusal: 'noClientCertificate', reason };
  }
  const sent = readForwardedCertificates(header);
  if (sent === undefined) {
    const reason = `the header ${certHeader} of the TLS proxy holds no certificate in URL-escaped PEM`;
    return { kind: 'unknown', refusal: 'noClientCertificate', reason };
  }
  const found = identityOfLeaf(sent);
  if (found.kind === 'unknown' || !options.verify) return found;
  const distrust = distrustOf(found.leaf, sent, options.authorities(), options.now());
  if (distrust === undefined) return found;
  return untrusted(found.leaf, `the client certificate that the TLS proxy forwards is not trusted: ${distrust}`);
}

/** The trusted proxy added the last address. A client may forge the others. */
function forwardedAddress(request: IncomingMessage): string | undefined {
  const header = request.headers['x-forwarded-for'];
  const last = (Array.isArray(header) ? header.join(',') : header)?.split(',').at(-1)?.trim();
  return last === undefined || isIP(last) === 0 ? undefined : plainAddress(last);
}
