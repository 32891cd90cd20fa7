/** Lives of certificates, in milliseconds. */
export interface CertificateTimes {
  readonly authorityLifeMs: number;
  readonly leafLifeMs: number;
  /** How long a changed Secret may take to reach every pod: nothing new is used before everybody had time to learn of it. */
  readonly spreadMs: number;
  /** How long a replaced authority stays trusted, once nothing is signed by it any more. */
  readonly graceMs: number;
}

const minute = 60_000;
const day = 24 * 60 * minute;

/** The kubelet looks after Secrets every minute or so; five leave room for a slow one. */
export const standardCertificateTimes: CertificateTimes = {
  authorityLifeMs: 3_650 * day,
  leafLifeMs: 90 * day,
  spreadMs: 5 * minute,
  graceMs: day,
};
