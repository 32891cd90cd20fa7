import type { IncomingMessage } from 'node:http';
import type { FindSource } from '../access/source-address.ts';
import type { IncomingRequest } from '../access/incoming-request.ts';
import { clientCertificateOf } from './client-certificate.ts';
import type { MessageBody } from './message-body.ts';

/** What the rooms see of a message. */
export function toIncomingRequest(
  message: IncomingMessage,
  options: {
    readonly requestId: string;
    readonly secure: boolean;
    readonly body: MessageBody;
    readonly measure: IncomingRequest['measure'];
    readonly watch: IncomingRequest['watch'];
    readonly clientCertificates: boolean;
    readonly findSource: FindSource;
  },
): IncomingRequest {
  const target = originForm(message.url ?? '/');
  const { address, shared } = options.findSource(message.socket.remoteAddress, message.headers);
  const question = target.indexOf('?');
  return {
    requestId: options.requestId,
    method: message.method ?? 'GET',
    rawPath: question < 0 ? target : target.slice(0, question),
    rawQuery: question < 0 ? '' : target.slice(question + 1),
    headers: message.headers,
    body: options.body,
    secure: options.secure,
    remoteAddress: address,
    sharedAddress: shared,
    measure: options.measure,
    watch: options.watch,
    clientCertificate: options.clientCertificates ? () => clientCertificateOf(message.socket) : undefined,
  };
}

/** `GET http://host/path` is as good as `GET /path` (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const match = /^https?:\/\/[^/?]*(.*)$/i.exec(target);
  const rest = match?.[1] ?? '';
  return rest.startsWith('/') ? rest : `/${rest}`;
}
