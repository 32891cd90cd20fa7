import { builtInPolicies } from '../../protocol/policy/built-in-policies.ts';
import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import { serializePolicy } from '../../protocol/policy/serialize-policy.ts';
import type { SealedRecordStore } from '../encryption/sealed-records.ts';
import { type AttachmentTarget, claimFits, partsOf } from './attachment-target.ts';
import { attachmentChanges } from './change-attachments.ts';
import { groupChanges } from './change-groups.ts';
import { createChange } from './change-identities.ts';
import { policyChanges } from './change-policies.ts';
import { serviceAccountChanges } from './change-service-accounts.ts';
import { userChanges } from './change-users.ts';
import { HeadCache } from './head-cache.ts';
import type { Identities, IdentityReader, NamedDocument } from './identities.ts';
import { identityRanges } from './identity-keys.ts';
import type { StoredPolicy } from './identity-records.ts';
import { IdentityView } from './identity-view.ts';
import type { Subject } from './subject.ts';

export interface IdentitiesOptions {
  readonly records: SealedRecordStore;
  readonly rootUser: string;
  /** 0 where this machine's records are the only ones, up to 1,000 where other servers share them. Milliseconds. */
  readonly staleMs: number;
  readonly clock: () => Date;
}

export function openIdentities(options: IdentitiesOptions): Identities {
  const { records, rootUser, clock } = options;
  const cache = new HeadCache({ records, staleMs: options.staleMs });
  const context = { change: createChange(records, () => cache.forget()), clock, rootUser };
  return {
    ...reader(new IdentityView(records), cache),
    ...userChanges(context),
    ...groupChanges(context),
    ...policyChanges(context),
    ...attachmentChanges(context),
    ...serviceAccountChanges(context),
  };
}

/** Lists are read anew, what each request asks for is remembered as long as nothing has changed. */
function reader(view: IdentityView, cache: HeadCache): IdentityReader {
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

/** By name; a stored one in place of the built-in one of its name. */
async function* allPolicies(view: IdentityView): AsyncIterable<NamedDocument> {
  // The names of built-in ones are ASCII: they stand in the same order here and among the records.
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
