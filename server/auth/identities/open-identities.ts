import { builtInPolicies } from '../../../protocol/policy/built-in-policies.ts';
import { parsePolicyDocument } from '../../../protocol/policy/parse-policy.ts';
import { serializePolicy } from '../../../protocol/policy/document.ts';
import type { SealedRecordStore } from '../../encryption/sealed-records.ts';
import { type AttachmentTarget, claimFits, partsOf, type Subject } from './subject.ts';
import { attachmentChanges, policyChanges } from './change-policies.ts';
import { groupChanges, userChanges } from './change-users.ts';
import { boundedChange } from './bounded-changes.ts';
import { createChange, IdentityView, type Change } from './transaction.ts';
import { serviceAccountChanges } from './change-service-accounts.ts';
import type { Identities, IdentityReader, NamedDocument } from './identities.ts';
import { identityRanges, type StoredPolicy, identityKeys } from './records.ts';

interface IdentitiesOptions {
  readonly records: SealedRecordStore;
  readonly rootUser: string;
  /** Milliseconds: 0 if only this machine has the records, up to 1,000 if other servers share them. */
  readonly staleMs: number;
  readonly clock: () => Date;
}

export function openIdentities(options: IdentitiesOptions): Identities {
  const { records, rootUser, clock } = options;
  const cache = new RevisionCache({ records, staleMs: options.staleMs });
  const read = reader(new IdentityView(records), cache);
  const withChange = (change: Change): Identities => {
    const context = { change, clock, rootUser };
    return {
      ...read,
      ...userChanges(context),
      ...groupChanges(context),
      ...policyChanges(context),
      ...attachmentChanges(context),
      ...serviceAccountChanges(context),
      boundedBy: (boundary) => withChange(boundedChange(change, boundary)),
    };
  };
  return withChange(createChange(records, () => cache.forget()));
}

/** Lists are read from the store. Reads that requests need are cached until a change. */
function reader(view: IdentityView, cache: RevisionCache): IdentityReader {
  const attached = (target: AttachmentTarget) =>
    cache.get(
      `attached ${JSON.stringify(partsOf(target))}`,
      async () => (await view.attachment(target))?.policies ?? [],
    );
  const groupsOf = (user: string) =>
    cache.get(`groups-of ${user}`, async () => {
      const names = await view.groupNamesOf(user);
      return (await Promise.all(names.map((name) => view.group(name)))).filter((group) => group !== undefined);
    });
  const policy = (name: string) => cache.get(`policy ${name}`, async () => named(name, await view.policy(name)));

  const ofUser = (name: string) =>
    cache.get(`policies-of ${name}`, async () => {
      const groups = (await groupsOf(name)).filter(({ status }) => status === 'enabled');
      const targets = [
        { kind: 'user' as const, name },
        ...groups.map((group) => ({ kind: 'group' as const, name: group.name })),
      ];
      return unique((await Promise.all(targets.map(attached))).flat());
    });

  return {
    user: (accessKey) => cache.get(`user ${accessKey}`, () => view.user(accessKey)),
    users: () => view.users(),
    group: (name) => cache.get(`group ${name}`, () => view.group(name)),
    groups: () => view.groups(),
    groupsOf,
    policy,
    policies: () => allPolicies(view),
    attached,
    attachments: (kind) => view.attachments(kind === undefined ? undefined : identityRanges.attachmentsOf(kind)),
    attachedTo: (name) => view.attachedTo(name),
    async claimTargets(provider, claims) {
      const targets = await cache.get(`claims ${provider}`, async () => {
        const found: AttachmentTarget[] = [];
        for await (const { target } of view.attachments(identityRanges.claims(provider))) found.push(target);
        return found;
      });
      return targets.filter((target) => target.kind === 'claim' && claimFits(target, claims));
    },
    serviceAccount: (accessKey) => cache.get(`service-account ${accessKey}`, () => view.serviceAccount(accessKey)),
    serviceAccounts: (owner) => view.serviceAccounts(owner),
    policiesOf: (subject) => policiesOf(subject, ofUser, attached),
  };
}

async function policiesOf(
  subject: Subject,
  ofUser: (name: string) => Promise<readonly string[]>,
  attached: (target: AttachmentTarget) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  switch (subject.kind) {
    case 'root':
      return [];
    case 'user':
      return ofUser(subject.name);
    case 'federated':
      if (subject.targets.length === 0) return subject.policies;
      return unique([...subject.policies, ...(await Promise.all(subject.targets.map(attached))).flat()]);
    default:
      return subject satisfies never;
  }
}

/** Lists policies by name. A stored policy replaces the built-in one of its name. */
async function* allPolicies(view: IdentityView): AsyncIterable<NamedDocument> {
  // Built-in names are ASCII, so they sort like the records.
  const builtIn = [...builtInPolicies.keys()].toSorted();
  const upTo = (name?: string) => {
    const end = name === undefined ? -1 : builtIn.findIndex((one) => one >= name);
    return builtIn.splice(0, end < 0 ? builtIn.length : end).flatMap((one) => named(one, undefined) ?? []);
  };
  for await (const stored of view.policies()) {
    yield* upTo(stored.name);
    if (builtIn[0] === stored.name) builtIn.shift();
    const document = named(stored.name, stored);
    if (document !== undefined) yield document;
  }
  yield* upTo();
}

function named(name: string, stored: StoredPolicy | undefined): NamedDocument | undefined {
  if (stored !== undefined) {
    return { name, document: parsePolicyDocument(stored.document), json: stored.document, stored };
  }
  const document = builtInPolicies.get(name);
  return document && { name, document, json: serializePolicy(document) };
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

interface RevisionCacheOptions {
  readonly records: Pick<SealedRecordStore, 'revision'>;
  /** Milliseconds for which cached reads count without a check; 0 if every change goes through this machine's records. */
  readonly staleMs: number;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** The cache also keeps that an access key does not exist, which any client can ask for. */
const maxEntries = 20_000;

/** Caches reads of identities until one of them changes: every change puts the head record, and each use compares its revision. */
export class RevisionCache {
  readonly #options: RevisionCacheOptions;
  readonly #now: () => number;
  #known = new Map<string, Promise<unknown>>();
  #revision: number | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RevisionCacheOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  async get<T>(name: string, load: () => Promise<T>): Promise<T> {
    await this.#look();
    // Keeps the map: a read that began before a change must not get into the new map.
    const known = this.#known;
    const found = known.get(name);
    if (found !== undefined) return found as Promise<T>;
    for (const oldest of known.keys()) {
      if (known.size < maxEntries) break;
      known.delete(oldest);
    }
    const loaded = load();
    known.set(name, loaded);
    loaded.catch(() => known.delete(name));
    return loaded;
  }

  /** Drops the cache after a change by this server. */
  forget(): void {
    this.#known = new Map();
    this.#lookedAt = Number.NEGATIVE_INFINITY;
  }

  async #look(): Promise<void> {
    const now = this.#now();
    if (now - this.#lookedAt < this.#options.staleMs) return;
    const revision = await this.#options.records.revision(identityKeys.head);
    this.#lookedAt = now;
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#known = new Map();
  }
}
