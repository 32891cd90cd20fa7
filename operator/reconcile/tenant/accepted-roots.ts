import type { Secret, Tenant } from '../../api/object.ts';
import type { ReconcilerOptions } from '../reconciler-options.ts';

interface RootPair {
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
function rootPairOf({ data: { rootUser, rootPassword } }: Pick<Secret, 'data'>): RootPair | undefined {
  if (rootUser === undefined || rootPassword === undefined || rootUser === '' || rootPassword === '') return undefined;
  return { rootUser, rootPassword };
}

function samePair(one: RootPair | undefined, other: RootPair | undefined): boolean {
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

/** Keeps what servers accept: a Secret of the operator's own, or files that only its user may read. */
export interface AcceptedRootStore {
  /** What `save` was given last; undefined where there is nothing that is whole. */
  load(tenant: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** Durable when it resolves. Errors with `ForeignObject`. */
  save(tenant: string, data: Readonly<Record<string, string>>): Promise<void>;
  /** The tenant is gone. */
  remove(tenant: string): Promise<void>;
}

type Options = Pick<ReconcilerOptions, 'rootCredentials' | 'acceptedRoots' | 'now'>;

/** The Secret that a tenant's servers read beside its root credentials. */
export function acceptedRootName(tenant: string): string {
  return `${tenant}-root-accepted`;
}

/**
 * Root credentials through a rotation: which pair every server takes at this moment. Pods are replaced one after the other, so that for a
 * while some know only the old pair; the others are told both, until all have the new one.
 */
export class AcceptedRoots {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** What the operator signs with. */
  async accepted(tenant: Tenant, secrets: ReadonlyMap<string, Secret>): Promise<Partial<RootPair>> {
    const known = await this.#load(tenant);
    return known?.accepted ?? rootPairOf(await this.#options.rootCredentials(tenant, secrets)) ?? {};
  }

  /** The Secret that servers read, brought up to date before they are looked at; undefined where the tenant has no credentials. */
  async beforeRollout(tenant: Tenant, root: Secret): Promise<Secret | undefined> {
    const known = await this.#load(tenant);
    const current = rootPairOf(root);
    if (current === undefined && known === undefined) return undefined;
    const next = current === undefined ? known : beforeRollout(known, current, this.#options.now().getTime());
    if (next === undefined) return undefined;
    await this.#save(tenant, known, next);
    return { name: acceptedRootName(tenant.metadata.name), data: dataOf(next) };
  }

  /** Every server was started with `root`. Answers the milliseconds until the former credentials end, where some are still good. */
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

/** `former`: the file that servers read, the two on a line each. */
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
