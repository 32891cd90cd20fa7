import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Returns the version of TLS of a connection as the condition key `s3:TlsVersion` has it, e.g. `1.3`. */
export function tlsVersionOf(socket: Socket): string | undefined {
  const protocol = socket instanceof TLSSocket ? socket.getProtocol() : null;
  return /^TLSv(\d(?:\.\d)?)$/.exec(protocol ?? '')?.[1];
}
