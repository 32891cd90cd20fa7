import type { Secret } from '../api/object.ts';

export interface RootPair {
  readonly rootUser: string;
  readonly rootPassword: string;
}

/** Which root credentials the servers of a tenant take. */
export interface AcceptedRoot {
  /** Every server takes these: the operator signs with them. */
  readonly accepted: RootPair;
  /** Servers that are started now take these too. */
  readonly former: RootPair | undefined;
  /** Milliseconds since 1970 at which `former` ends; undefined while servers are being replaced. */
  readonly formerUntil: number | undefined;
}

/** Milliseconds that servers take former credentials when all have the new ones: for calls under way, and files on their way to pods. */
export const formerMs = 60_000;

/** The pair of a Secret; undefined where one of the two is missing. */
export function rootPairOf({ data: { rootUser, rootPassword } }: Pick<Secret, 'data'>): RootPair | undefined {
  if (rootUser === undefined || rootPassword === undefined || rootUser === '' || rootPassword === '') return undefined;
  return { rootUser, rootPassword };
}

export function samePair(one: RootPair | undefined, other: RootPair | undefined): boolean {
  return one?.rootUser === other?.rootUser && one?.rootPassword === other?.rootPassword;
}

/**
 * What servers are to take before they are looked at. `current`: the Secret's credentials. While they differ from those that every
 * server takes, the latter stay good: servers that have the new ones are told both.
 */
export function beforeRollout(known: AcceptedRoot | undefined, current: RootPair, now: number): AcceptedRoot {
  // Nothing is known of servers from before: they have what the Secret says, or are not started yet.
  if (known === undefined) return { accepted: current, former: undefined, formerUntil: undefined };
  if (!samePair(known.accepted, current)) {
    return { accepted: known.accepted, former: known.accepted, formerUntil: undefined };
  }
  const over = known.former !== undefined && (known.formerUntil === undefined || known.formerUntil <= now);
  return over ? { accepted: current, former: undefined, formerUntil: undefined } : known;
}

/** Every server has the current credentials: they are what the operator signs with, and the former ones end soon. */
export function afterRollout(known: AcceptedRoot, current: RootPair, now: number): AcceptedRoot {
  if (samePair(known.accepted, current)) return known;
  return { accepted: current, former: known.accepted, formerUntil: now + formerMs };
}
