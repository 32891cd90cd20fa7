/** Lives of certificates, in milliseconds. */
export interface CertificateTimes {
  readonly authorityLifeMs: number;
  readonly leafLifeMs: number;
  /** Time for a changed Secret to reach every pod. A new certificate is used only after it. */
  readonly spreadMs: number;
  /** Time for which a replaced authority stays trusted after nothing signed by it is in use. */
  readonly graceMs: number;
}

const minute = 60_000;
const day = 24 * 60 * minute;

/** A kubelet checks Secrets about every minute. Five minutes allow for a slow one. */
export const standardCertificateTimes: CertificateTimes = {
  authorityLifeMs: 3_650 * day,
  leafLifeMs: 90 * day,
  spreadMs: 5 * minute,
  graceMs: day,
};

const variables = {
  authorityLifeMs: 'COFFER_OPERATOR_AUTHORITY_LIFE_SECONDS',
  leafLifeMs: 'COFFER_OPERATOR_CERTIFICATE_LIFE_SECONDS',
  spreadMs: 'COFFER_OPERATOR_CERTIFICATE_SPREAD_SECONDS',
  graceMs: 'COFFER_OPERATOR_AUTHORITY_GRACE_SECONDS',
} as const;

/**
 * Returns the standard times with those of the environment, in seconds: `COFFER_OPERATOR_AUTHORITY_LIFE_SECONDS`,
 * `COFFER_OPERATOR_CERTIFICATE_LIFE_SECONDS`, `COFFER_OPERATOR_CERTIFICATE_SPREAD_SECONDS`, `COFFER_OPERATOR_AUTHORITY_GRACE_SECONDS`.
 * Errors when one is not a number, or when the last third of a life is too short for a renewal to reach every pod.
 */
export function certificateTimes(environment: Readonly<Record<string, string | undefined>>): CertificateTimes {
  const times: Record<keyof CertificateTimes, number> = { ...standardCertificateTimes };
  for (const [field, variable] of Object.entries(variables) as [keyof CertificateTimes, string][]) {
    const value = environment[variable];
    if (value === undefined || value === '') continue;
    const seconds = Number(value);
    if (!Number.isFinite(seconds) || seconds < 0)
      throw new Error(`${variable} is "${value}", which is no time in seconds`);
    times[field] = seconds * 1_000;
  }
  for (const life of ['authorityLifeMs', 'leafLifeMs'] as const) {
    if (times[life] / 3 > times.spreadMs) continue;
    throw new Error(
      `${variables[life]} is ${times[life] / 1_000}: a third of it must be longer than ${variables.spreadMs}, ` +
        `which is ${times.spreadMs / 1_000}`,
    );
  }
  return times;
}
