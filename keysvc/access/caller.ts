import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Identity } from '../../protocol/key-service/identity.ts';
import { clientIdentity, identityOfLeaf, untrusted } from './client-identity.ts';
import type { ClientIdentity } from './client-identity.ts';
import { distrustOf, readForwardedCertificates } from './forwarded-certificate.ts';

/** TLS proxies that are trusted to say who is behind them. */
export interface TlsProxies {
  readonly identities: ReadonlySet<Identity>;
  /** The header, in lower case, in which they send the client's certificate. */
  readonly certHeader: string;
}

/** Who makes a call, and from where. */
export interface Caller {
  readonly client: ClientIdentity;
  readonly ip: string | undefined;
}

export interface CallersOptions {
  readonly verify: boolean;
  readonly proxies: TlsProxies;
  /** Whom forwarded certificates must come from where clients are verified. */
  readonly authorities: () => readonly X509Certificate[];
  readonly now: () => number;
}

/** Tells who makes a call: the holder of the connection's certificate or, where that is a trusted proxy, of the one it forwards. */
export function callersOf(options: CallersOptions): (request: IncomingMessage) => Caller {
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

function behindProxy(request: IncomingMessage, options: CallersOptions): ClientIdentity {
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

/** The last address is the one that the trusted proxy itself saw; those before it anyone may have written. */
function forwardedAddress(request: IncomingMessage): string | undefined {
  const header = request.headers['x-forwarded-for'];
  const last = (Array.isArray(header) ? header.join(',') : header)?.split(',').at(-1)?.trim();
  return last === undefined || isIP(last) === 0 ? undefined : last;
}
