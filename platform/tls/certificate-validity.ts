import { X509Certificate } from 'node:crypto';

const dayMs = 86_400_000;
/** Certificates are renewed earlier: cert-manager and the operator do it after two thirds of the validity. */
const warnedDays = 14;

/** The end of the validity of the first certificate in a PEM, in milliseconds since 1970. */
export function expiresAt(pem: Buffer): number {
  return new X509Certificate(pem).validToDate.getTime();
}

/** Returns why clients refuse the first certificate in a PEM now; undefined if it is valid. */
export function validityError(pem: Buffer, now: number): string | undefined {
  const { validFromDate, validToDate } = new X509Certificate(pem);
  if (now < validFromDate.getTime()) return `is not valid before ${validFromDate.toISOString()}`;
  if (now > validToDate.getTime()) return `expired at ${validToDate.toISOString()}`;
  return undefined;
}

/** The same, and a warning in the last 14 days of the validity, or in its last tenth if that is shorter. It changes once a day. */
export function validityWarning(pem: Buffer, now: number): string | undefined {
  const error = validityError(pem, now);
  if (error !== undefined) return error;
  const { validFromDate, validToDate } = new X509Certificate(pem);
  const left = validToDate.getTime() - now;
  const validity = validToDate.getTime() - validFromDate.getTime();
  if (left > Math.min(warnedDays * dayMs, validity / 10)) return undefined;
  return `expires in ${daysOf(left)}, at ${validToDate.toISOString()}`;
}

function daysOf(ms: number): string {
  const days = Math.floor(ms / dayMs);
  return days === 0 ? 'less than a day' : days === 1 ? '1 day' : `${days} days`;
}
