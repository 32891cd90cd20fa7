import { UsageError } from './usage-error.ts';

/** The bytes of a key as somebody brings it: base64, or the bare bytes. Never quoted. Errors with a `UsageError`. */
export function readKeyBytes(input: Buffer): Buffer {
  const text = input.toString('latin1').trim();
  const decoded = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
  if (decoded?.length === keyBytes) return decoded;
  if (input.length === keyBytes) return input;
  throw new UsageError(
    `a key has ${keyBytes} bytes, written in base64; this one ${decoded === undefined ? 'is no base64' : `has ${decoded.length}`}`,
  );
}

const keyBytes = 32;
