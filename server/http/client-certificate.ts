import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../access/incoming-request.ts';

/** What the client of a connection presented, and whether it stands up to the authorities of the server. */
export function clientCertificateOf(socket: Socket): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  if (socket.authorized) return { certificate };
  return { certificate, problem: String(socket.authorizationError ?? 'not verified') };
}
