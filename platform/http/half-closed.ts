import type { Server } from 'node:http';
import type { Server as HttpsServer, ServerOptions } from 'node:https';

/** The option of a server for `answerHalfClosed`. Node sets it for `node:http` only. */
export const halfClosed: Pick<ServerOptions, 'allowHalfOpen'> = { allowHalfOpen: true };

/**
 * Makes a server answer a client that closes its sending half after its request, as `nc` does and RFC 9112 allows. Without it Node closes the
 * connection at once, and the client gets nothing, although the server may have done what it asked for. What never ends must end itself when
 * the client has closed: its connection then seems open until a write fails.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-9.6
 */
export function answerHalfClosed(server: Server | HttpsServer): void {
  // Node has had this property since 0.5, and does not list it.
  Object.assign(server, { httpAllowHalfOpen: true });
}
