import type { CertificateTimes } from './certificate-times.ts';

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Where an authority is in the exchange of its certificate and key. Only `signing` signs; everybody trusts both. */
export type AuthorityPhase =
  | { readonly kind: 'settled'; readonly signing: Validity }
  | { readonly kind: 'introducing'; readonly signing: Validity; readonly next: Validity; readonly since: Date }
  | { readonly kind: 'retiring'; readonly signing: Validity; readonly previous: Validity; readonly since: Date };

export type AuthorityStep =
  | { readonly kind: 'stay'; readonly until: Date }
  /** Make the next one and give it to everybody, signing with neither more nor less than before. */
  | { readonly kind: 'introduce' }
  /** Everybody had time to learn of the next one: it signs from now on. */
  | { readonly kind: 'switch' }
  /** Nobody shows a certificate of the previous one any more. */
  | { readonly kind: 'retire' };

/**
 * What to do with an authority now. A side that trusts an authority too late refuses its peer, one that stops too early does too;
 * so a new one signs only after `spreadMs`, and the old one goes only when nothing signed by it was in use for `graceMs`, or when it
 * has expired.
 */
export function authorityStep(
  phase: AuthorityPhase,
  now: Date,
  times: Pick<CertificateTimes, 'spreadMs' | 'graceMs'>,
  signedByPrevious: boolean,
): AuthorityStep {
  switch (phase.kind) {
    case 'settled':
      return reached(twoThirds(phase.signing), now) ?? { kind: 'introduce' };
    case 'introducing':
      // Nobody accepts what an expired one signed: there is nothing left to wait for.
      if (phase.signing.notAfter <= now) return { kind: 'switch' };
      return reached(after(phase.since, times.spreadMs), now) ?? { kind: 'switch' };
    case 'retiring':
      if (phase.previous.notAfter <= now) return { kind: 'retire' };
      if (signedByPrevious) return { kind: 'stay', until: phase.previous.notAfter };
      return reached(after(phase.since, times.graceMs), now) ?? { kind: 'retire' };
    default:
      return phase satisfies never;
  }
}

/** When two thirds of a life are over: a third is left for everything that may go wrong. */
export function twoThirds({ notBefore, notAfter }: Validity): Date {
  return new Date(notBefore.getTime() + ((notAfter.getTime() - notBefore.getTime()) * 2) / 3);
}

function after(since: Date, milliseconds: number): Date {
  return new Date(since.getTime() + milliseconds);
}

function reached(time: Date, now: Date): AuthorityStep | undefined {
  return now < time ? { kind: 'stay', until: time } : undefined;
}
