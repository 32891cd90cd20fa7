import { randomBytes } from 'node:crypto';

/** The clocks of two machines differ by a little: a certificate is valid from this long before it was made. */
const clockSkewMs = 5 * 60_000;

/** When a certificate made now is valid; never beyond `notLaterThan`, the end of its issuer. */
export function validity(now: Date, validForMs: number, notLaterThan?: Date): { notBefore: Date; notAfter: Date } {
  const wanted = now.getTime() + validForMs;
  const end = notLaterThan === undefined ? wanted : Math.min(wanted, notLaterThan.getTime());
  return { notBefore: new Date(now.getTime() - clockSkewMs), notAfter: new Date(end) };
}

/** A positive serial number of 16 bytes, hex. @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.2 */
export function newSerialNumber(): string {
  const bytes = randomBytes(16);
  // The top bit would make the number negative, a zero first byte would be dropped.
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}
