import { ProgramError } from '../errors/program-error.ts';
import type { AddressInfo, ListenOptions, Server } from 'node:net';

/** An address to listen on. Without a host it is every interface. */
export interface ListenAddress {
  readonly host?: string;
  readonly port: number;
}

/**
 * Parses `HOST:PORT`, `[IPV6]:PORT` or `:PORT`. `setting` is the option that has the text, for the error.
 *
 * @throws ProgramError with the text and what is wrong
 */
export function parseAddress(text: string, setting?: string): ListenAddress {
  const subject = setting === undefined ? '' : `${setting}: `;
  const match = /^(?:\[([0-9a-fA-F:.]+(?:%[\w.-]+)?)\]|([^\s:[\]/]*)):(\d{1,5})$/.exec(text.trim());
  if (match === null) {
    throw new ProgramError(
      'invalid-value',
      `${subject}"${text}" is no address: write HOST:PORT, [IPV6]:PORT or :PORT, for example 127.0.0.1:9000`,
    );
  }
  const port = Number(match[3]);
  if (port > 65_535) throw new ProgramError('invalid-value', `${subject}"${text}": the port ${port} is above 65535`);
  const host = match[1] ?? match[2] ?? '';
  return host === '' || host === '*' ? { port } : { host, port };
}

/** Writes an address, IPv6 in brackets. */
export function formatAddress(address: {
  readonly host?: string;
  readonly address?: string;
  readonly port: number;
}): string {
  const host = address.host ?? address.address ?? '';
  return `${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

/**
 * Binds a server and returns its address (port 0 is resolved). Rejects with a `ProgramError` that names the address, the reason and what to
 * do. `setting` is the option that changes the address, e.g. `--address`.
 */
export async function listen(
  server: Server,
  address: ListenAddress,
  options: { readonly setting: string; readonly reusePort?: boolean },
): Promise<AddressInfo> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onError = (error: NodeJS.ErrnoException) => reject(explain(error, address, options.setting));
  server.once('error', onError);
  const where: ListenOptions = { port: address.port };
  if (address.host !== undefined) where.host = address.host;
  if (options.reusePort === true) where.reusePort = true;
  server.listen(where, resolve);
  try {
    await promise;
  } finally {
    server.removeListener('error', onError);
  }
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the server is bound to no port');
  return bound;
}

function explain(error: NodeJS.ErrnoException, address: ListenAddress, setting: string): ProgramError {
  const where = formatAddress(address);
  const code = error.code ?? 'UNKNOWN';
  switch (code) {
    case 'EADDRINUSE':
      return new ProgramError(
        'listen',
        `port ${address.port} is in use (${where}): stop the program that holds it, or choose another port with ${setting}`,
        { cause: error },
      );
    case 'EACCES':
      return new ProgramError(
        'listen',
        `this user may not listen on ${where}: ports below 1024 need a privilege; choose another port with ${setting}`,
        { cause: error },
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ProgramError(
        'listen',
        `${address.host ?? where} is no address of this machine: choose one of its own, or 0.0.0.0, with ${setting}`,
        { cause: error },
      );
    default:
      return new ProgramError('listen', `cannot listen on ${where}: ${error.message}; choose another with ${setting}`, {
        cause: error,
      });
  }
}
