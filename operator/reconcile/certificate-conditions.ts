import { createHash, X509Certificate } from 'node:crypto';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { checkTlsPair } from '../../platform/tls/tls-files.ts';
import type { Secret } from '../contract/secret.ts';
import type { CertificateNeed, IssuedCertificate } from '../contract/workload.ts';
import type { CertificateStatus, ConditionUpdate, ResourceStatus } from './conditions.ts';

const day = 24 * 60 * 60 * 1_000;
/** Milliseconds before its end at which a user's own certificate is reported. */
const soonMs = 14 * day;

/** A certificate that a resource runs with. */
export interface KnownCertificate extends CertificateStatus {
  /** True when the operator or cert-manager renews it. The user renews a certificate in a Secret of their own. */
  readonly renewedForThem: boolean;
}

/** Returns the certificates that the runtime keeps, and those in Secrets (`tls.crt`) of the user. */
export function certificatesOf(
  needs: readonly CertificateNeed[],
  issued: ReadonlyMap<string, IssuedCertificate>,
  own: readonly (Secret | undefined)[],
): readonly KnownCertificate[] {
  const made = needs.flatMap(({ name }) => {
    const certificate = issued.get(name);
    return certificate === undefined
      ? []
      : [{ name, notAfter: certificate.notAfter.toISOString(), renewedForThem: true }];
  });
  const brought = own.flatMap((secret) => {
    const notAfter = secret === undefined ? undefined : expiryOf(secret.data['tls.crt']);
    return secret === undefined || notAfter === undefined
      ? []
      : [{ name: secret.name, notAfter: notAfter.toISOString(), renewedForThem: false }];
  });
  return [...made, ...brought].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns TLSReady; undefined when the resource has no certificate. `own` are the Secrets of the user. */
export function tlsCondition(
  needs: readonly CertificateNeed[],
  certificates: readonly KnownCertificate[],
  now: Date,
  own: readonly (Secret | undefined)[] = [],
): ConditionUpdate | undefined {
  const missing = needs.find(({ name }) => certificates.every((certificate) => certificate.name !== name));
  if (missing !== undefined) {
    return {
      type: 'TLSReady',
      status: 'Unknown',
      reason: 'CertificateMissing',
      message: `the certificate ${missing.name} is not made yet`,
    };
  }
  for (const secret of own) {
    const fault = secret === undefined ? undefined : pairFault(secret);
    if (fault !== undefined)
      return { type: 'TLSReady', status: 'False', reason: 'CertificateUnusable', message: fault };
  }
  if (certificates.length === 0) return undefined;
  const first = certificates.toSorted((a, b) => Date.parse(a.notAfter) - Date.parse(b.notAfter))[0];
  const left = first === undefined ? Infinity : Date.parse(first.notAfter) - now.getTime();
  if (first !== undefined && left <= 0) {
    const message = `the certificate ${first.name} expired at ${first.notAfter}`;
    return { type: 'TLSReady', status: 'False', reason: 'CertificateExpired', message };
  }
  const soon = certificates.find(
    ({ renewedForThem, notAfter }) => !renewedForThem && Date.parse(notAfter) - now.getTime() <= soonMs,
  );
  if (soon !== undefined) {
    const message = `the certificate in the Secret ${soon.name} expires at ${soon.notAfter}: put a new one there`;
    return { type: 'TLSReady', status: 'True', reason: 'CertificateExpiresSoon', message };
  }
  return { type: 'TLSReady', status: 'True', reason: 'Ready', message: 'every certificate is valid' };
}

/**
 * Returns the milliseconds until the next check. For a certificate that is renewed automatically it is a sixth of the remaining life,
 * which is early enough in the last third of any life. For a user's certificate it is the time at which its condition changes.
 */
export function recheckMs(certificates: readonly KnownCertificate[], now: Date): number | undefined {
  const pauses = certificates.flatMap(({ renewedForThem, notAfter }) => {
    const left = Date.parse(notAfter) - now.getTime();
    if (renewedForThem) return left > 0 ? Math.max(1_000, left / 6) : overdueMs;
    if (left <= 0) return [];
    return left > soonMs ? left - soonMs : left;
  });
  return pauses.length === 0 ? undefined : Math.min(day / 2, ...pauses);
}

/** Milliseconds between checks of a certificate whose renewal is overdue. */
const overdueMs = 30_000;

const parsed = new Map<string, Date | undefined>();

/** Caches the expiry: parsing costs more than the rest of a reconcile, and certificates change seldom. */
function expiryOf(pem: string | undefined): Date | undefined {
  if (pem === undefined) return undefined;
  if (!parsed.has(pem)) {
    if (parsed.size >= 1_024) parsed.clear();
    parsed.set(pem, parseExpiry(pem));
  }
  return parsed.get(pem);
}

function parseExpiry(pem: string): Date | undefined {
  try {
    return new X509Certificate(pem).validToDate;
  } catch {
    return undefined;
  }
}

const faults = new Map<string, string | undefined>();

/** Returns why a server could not use the pair of a Secret. A Secret without one of the two is a problem of the reference to it. */
function pairFault({ name, data }: Secret): string | undefined {
  const [cert, key] = [data['tls.crt'], data['tls.key']];
  if (cert === undefined || key === undefined) return undefined;
  const pair = createHash('sha256')
    .update(JSON.stringify([name, cert, key]))
    .digest('hex');
  if (!faults.has(pair)) {
    if (faults.size >= 1_024) faults.clear();
    faults.set(pair, findFault(name, cert, key));
  }
  return faults.get(pair);
}

function findFault(secret: string, cert: string, key: string): string | undefined {
  try {
    checkTlsPair({
      cert: { name: `tls.crt of the Secret ${secret}`, pem: Buffer.from(cert) },
      key: { name: `tls.key of the Secret ${secret}`, pem: Buffer.from(key) },
    });
    return undefined;
  } catch (error) {
    if (error instanceof ProgramError) return error.message;
    throw error;
  }
}

/** Returns the certificates as the status lists them. */
export function certificateStatus(certificates: readonly KnownCertificate[]): Pick<ResourceStatus, 'certificates'> {
  if (certificates.length === 0) return {};
  return { certificates: certificates.map(({ name, notAfter }) => ({ name, notAfter })) };
}
