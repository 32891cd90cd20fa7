import { isIP, type LookupFunction } from 'node:net';
import { ProgramError } from '../../../platform/errors/program-error.ts';

/** An address to use for a host instead of asking the name service. */
export interface Resolution {
  readonly host: string;
  /** Undefined for every port. */
  readonly port: number | undefined;
  readonly address: string;
}

/**
 * Parses `HOST[:PORT]=IP`.
 *
 * @throws ProgramError BadArgument
 */
export function parseResolution(text: string): Resolution {
  const [, host, port, address = ''] = /^([^:=]+)(?::(\d{1,5}))?=(.+)$/.exec(text) ?? [];
  if (host === undefined || isIP(address) === 0) {
    throw new ProgramError(
      'BadArgument',
      `Invalid --resolve \`${text}\`: write HOST[:PORT]=IP, such as s3.example.com:9000=10.0.0.1`,
    );
  }
  return { host: host.toLowerCase(), port: port === undefined ? undefined : Number(port), address };
}

/** Returns the function with which connections to a port find the addresses of hosts; undefined if no resolution is for the port. */
export function lookupFor(resolutions: readonly Resolution[], port: number): LookupFunction | undefined {
  const addresses = new Map(
    resolutions
      .filter((one) => one.port === undefined || one.port === port)
      .map(({ host, address }) => [host, address]),
  );
  if (addresses.size === 0) return undefined;
  return (hostname, options, callback) => {
    const address = addresses.get(hostname.toLowerCase());
    if (address === undefined) {
      // Loaded on demand: few commands name an address.
      void import('node:dns').then(({ lookup }) => lookup(hostname, options, callback as never));
      return;
    }
    const family = isIP(address);
    if (options.all === true) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
}

/**
 * Parses `NAME: VALUE` of `--custom-header`.
 *
 * @throws ProgramError BadArgument
 */
export function parseHeader(text: string): readonly [name: string, value: string] {
  const [, name = '', value = ''] = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+):\s*([\x20-\x7e]*)$/.exec(text) ?? [];
  if (name !== '') return [name.toLowerCase(), value.trim()];
  throw new ProgramError('BadArgument', `Invalid --custom-header \`${text}\`: write NAME:VALUE`);
}
