import type { Tenant } from '../../api/object.ts';
import type { Secret } from '../../contract/secret.ts';
import type { ReconcilerOptions } from '../reconciler-options.ts';

interface RootPair {
  readonly rootUser: string;
  readonly rootPassword: string;
}

/** The root credentials that the servers of a tenant accept. */
export interface AcceptedRoot {
  /** Every server accepts these; the operator signs with them. */
  readonly accepted: RootPair;
  /** Servers that start now accept these too. */
  readonly former: RootPair | undefined;
  /** Milliseconds since 1970 at which `former` ends; undefined while servers are being replaced. */
  readonly formerUntil: number | undefined;
}

/** Milliseconds that servers accept former credentials after all have the new ones: for calls under way and for updates of files in pods. */
export const formerMs = 60_000;

/** Returns the pair of a Secret; undefined when one of the two values is missing. */
function rootPairOf({ data: { rootUser, rootPassword } }: Pick<Secret, 'data'>): RootPair | undefined {
  if (rootUser === undefined || rootPassword === undefined || rootUser === '' || rootPassword === '') return undefined;
  return { rootUser, rootPassword };
}

function samePair(one: RootPair | undefined, other: RootPair | undefined): boolean {
  return one?.rootUser === other?.rootUser && one?.rootPassword === other?.rootPassword;
}

/**
 * Decides which credentials servers accept before a rollout. `current` are those of the Secret. While they differ from the pair that
 * every server accepts, servers with the new pair accept both.
 */
export function beforeRollout(known: AcceptedRoot | undefined, current: RootPair, now: number): AcceptedRoot {
  // There is no record: the servers have the credentials of the Secret, or are not started yet.
  if (known === undefined) return { accepted: current, former: undefined, formerUntil: undefined };
  if (!samePair(known.accepted, current)) {
    return { accepted: known.accepted, former: known.accepted, formerUntil: undefined };
  }
  const over = known.former !== undefined && (known.formerUntil === undefined || known.formerUntil <= now);
  return over ? { accepted: current, former: undefined, formerUntil: undefined } : known;
}

/** Decides the state once every server has the current credentials: the operator signs with them, and the former ones end soon. */
export function afterRollout(known: AcceptedRoot, current: RootPair, now: number): AcceptedRoot {
  if (samePair(known.accepted, current)) return known;
  return { accepted: current, former: known.accepted, formerUntil: now + formerMs };
}

type Options = Pick<ReconcilerOptions, 'rootCredentials' | 'acceptedRoots' | 'now'>;

/** Names the Secret that a tenant's servers read in addition to its root credentials. */
export function acceptedRootName(tenant: string): string {
  return `${tenant}-root-accepted`;
}

/**
 * Tracks root credentials through a rotation: the pair that every server accepts now. Pods are replaced one after the other, so for a
 * while some know only the old pair. The others accept both until all have the new one.
 */
export class AcceptedRoots {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Returns the credentials that the operator signs with. */
  async accepted(tenant: Tenant, secrets: ReadonlyMap<string, Secret>): Promise<Partial<RootPair>> {
    const known = await this.#load(tenant);
    return known?.accepted ?? rootPairOf(await this.#options.rootCredentials(tenant, secrets)) ?? {};
  }

  /** Updates and answers the Secret that servers read; undefined when the tenant has no credentials. */
  async beforeRollout(tenant: Tenant, root: Secret): Promise<Secret | undefined> {
    const known = await this.#load(tenant);
    const current = rootPairOf(root);
    if (current === undefined && known === undefined) return undefined;
    const next = current === undefined ? known : beforeRollout(known, current, this.#options.now().getTime());
    if (next === undefined) return undefined;
    await this.#save(tenant, known, next);
    return { name: acceptedRootName(tenant.metadata.name), data: dataOf(next) };
  }

  /** Records that every server runs with `root`. Returns the milliseconds until the former credentials end, if there are any. */
  async afterRollout(tenant: Tenant, root: Secret): Promise<number | undefined> {
    const known = await this.#load(tenant);
    const current = rootPairOf(root);
    if (known === undefined || current === undefined) return undefined;
    const now = this.#options.now().getTime();
    const next = afterRollout(known, current, now);
    await this.#save(tenant, known, next);
    return next.formerUntil === undefined ? undefined : Math.max(1, next.formerUntil - now);
  }

  forget(tenant: string): Promise<void> {
    return this.#options.acceptedRoots.remove(tenant);
  }

  async #load({ metadata: { name } }: Tenant): Promise<AcceptedRoot | undefined> {
    const data = await this.#options.acceptedRoots.load(name);
    return data && parsed(data);
  }

  async #save({ metadata: { name } }: Tenant, known: AcceptedRoot | undefined, next: AcceptedRoot): Promise<void> {
    const same =
      known !== undefined &&
      samePair(known.accepted, next.accepted) &&
      samePair(known.former, next.former) &&
      known.formerUntil === next.formerUntil;
    if (!same) await this.#options.acceptedRoots.save(name, dataOf(next));
  }
}

/** Writes `former` as the file that servers read: user and password on a line each. */
function dataOf({ accepted, former, formerUntil }: AcceptedRoot): Readonly<Record<string, string>> {
  return {
    ...accepted,
    former: former === undefined ? '' : `${former.rootUser}\n${former.rootPassword}`,
    formerUntil: formerUntil === undefined ? '' : new Date(formerUntil).toISOString(),
  };
}

function parsed(data: Readonly<Record<string, string>>): AcceptedRoot | undefined {
  const accepted = rootPairOf({ data });
  if (accepted === undefined) return undefined;
  const [rootUser = '', rootPassword = ''] = (data['former'] ?? '').split('\n');
  const until = Date.parse(data['formerUntil'] ?? '');
  return {
    accepted,
    former: rootPairOf({ data: { rootUser, rootPassword } }),
    formerUntil: Number.isNaN(until) ? undefined : until,
  };
}
