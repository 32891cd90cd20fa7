import { twoThirds, type Validity } from './authority-phases.ts';
import type { CertificateTimes } from './certificate-times.ts';

/** What is known of a certificate that its programs use now. */
export interface LeafFacts {
  readonly validity: Validity;
  /** Whether the authority that signs now signed it. */
  readonly signed: boolean;
  /** Whether it is valid for every name and use that is needed. */
  readonly fits: boolean;
  /** Whether its key was made for the `rotation` that is written now. */
  readonly keyWanted: boolean;
}

/** Where the exchange of its key is. */
export type KeyPhase =
  | { readonly kind: 'settled' }
  /** The next key's identity is told to everybody; programs use the old one. */
  | { readonly kind: 'announced'; readonly since: Date }
  /** Programs get the new one; the old identity is still known. */
  | { readonly kind: 'overlapping'; readonly since: Date };

export type LeafStep =
  | { readonly kind: 'stay'; readonly until: Date }
  /** Sign again, for the same key. */
  | { readonly kind: 'renew' }
  /** Make the next key and tell its identity. */
  | { readonly kind: 'announce' }
  /** Give the next key to the programs. */
  | { readonly kind: 'switch' }
  /** Tell the old identity no more. */
  | { readonly kind: 'forget' };

/**
 * What to do with a certificate now. A renewal goes first: it changes no identity, and everything else takes its time. A key is
 * exchanged in three steps, since whoever shows an identity that the other side does not know yet is refused.
 */
export function leafStep(
  facts: LeafFacts,
  phase: KeyPhase,
  now: Date,
  times: Pick<CertificateTimes, 'spreadMs'>,
): LeafStep {
  const due = twoThirds(facts.validity);
  if (!facts.signed || !facts.fits || due <= now) return { kind: 'renew' };
  switch (phase.kind) {
    case 'settled':
      return facts.keyWanted ? { kind: 'stay', until: due } : { kind: 'announce' };
    case 'announced':
      return waited(phase.since, times.spreadMs, due, now) ?? { kind: 'switch' };
    case 'overlapping':
      return waited(phase.since, times.spreadMs, due, now) ?? { kind: 'forget' };
    default:
      return phase satisfies never;
  }
}

function waited(since: Date, spreadMs: number, due: Date, now: Date): LeafStep | undefined {
  const over = since.getTime() + spreadMs;
  return now.getTime() < over ? { kind: 'stay', until: new Date(Math.min(over, due.getTime())) } : undefined;
}
