import type { IncomingHttpHeaders } from 'node:http';
import { CliError } from '../cli-error.ts';

/** Headers that S3 keeps with an object and gives back. */
const kept = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
];

/** Those of a source object that its copy shall have, metadata included. */
export function keptHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).filter(([name]) => kept.includes(name) || name.startsWith('x-amz-meta-'));
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

/**
 * Reads `--attr 'Cache-Control=no-cache;colour=blue'`: names that S3 knows become headers, the others metadata.
 *
 * @throws CliError BadArgument
 */
export function parseAttributes(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const attribute of text.split(';').filter((one) => one.trim() !== '')) {
    const equals = attribute.indexOf('=');
    const name = attribute.slice(0, Math.max(equals, 0)).trim().toLowerCase();
    const value = attribute.slice(equals + 1).trim();
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) {
      throw new CliError('BadArgument', `Invalid attribute \`${attribute}\`: write NAME=VALUE;NAME=VALUE`);
    }
    if (!/^[\x20-\x7e]*$/.test(value)) {
      throw new CliError('BadArgument', `Invalid value of the attribute \`${name}\`: only printable ASCII can be sent`);
    }
    const known = kept.includes(name) || name === 'x-amz-storage-class' || name.startsWith('x-amz-meta-');
    headers[known ? name : `x-amz-meta-${name}`] = value;
  }
  return headers;
}
