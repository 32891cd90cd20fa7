import { z } from 'zod';
import { IdentityError } from '../auth/identity-error.ts';
import type { Identities, NamedDocument } from '../auth/identities/identities.ts';
import type { Group, ServiceAccount, User } from '../auth/identities/records.ts';
import { attachmentTarget, type AttachmentTarget, partsOf, subjectSchema } from '../auth/identities/subject.ts';
import { optionalField } from '../administration/optional-field.ts';
import { removeUserAndCredentials } from '../administration/users.ts';
import type { TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';
import type { Item, ItemKey, ItemSource } from './site-items.ts';

const status = z.enum(['enabled', 'disabled']);
const policyValue = z.object({ document: z.string() });
const userValue = z.object({ secretKey: z.string(), status });
const groupValue = z.object({ status, members: z.array(z.string()) });
const attachmentValue = z.object({ target: attachmentTarget, policies: z.array(z.string()) });
const accountValue = z.object({
  subject: subjectSchema,
  secretKey: z.string(),
  status,
  policy: z.string().optional(),
  name: z.string().optional(),
  description: z.string().optional(),
  expiration: z.number().optional(),
});

const kinds = ['policy', 'user', 'group', 'attachment', 'service-account'] as const;
type IdentityKind = (typeof kinds)[number];

interface IdentityItemsOptions {
  readonly identities: Identities;
  readonly temporary: Pick<TemporaryCredentialsStore, 'revokeAllOf'>;
  readonly clock: () => number;
}

/**
 * Policies, users, groups, attached policies and service accounts as items, with their secret keys. Built-in policies are on every site.
 * Service accounts of the root user stay on their site, as in MinIO, and so do temporary credentials. Expired accounts are left out.
 */
export function identityItems({ identities, temporary, clock }: IdentityItemsOptions): ItemSource {
  const lists: Readonly<Record<IdentityKind, () => AsyncIterable<Item | undefined>>> = {
    async *policy() {
      for await (const policy of identities.policies()) yield policyItem(policy);
    },
    async *user() {
      for await (const user of identities.users()) yield userItem(user);
    },
    async *group() {
      for await (const group of identities.groups()) yield groupItem(group);
    },
    async *attachment() {
      for await (const { target, policies, updatedAt } of identities.attachments())
        yield { ...attachmentItem(target, policies), updatedAt };
    },
    async *'service-account'() {
      for await (const account of identities.serviceAccounts()) yield accountItem(account, clock());
    },
  };
  const readers: Readonly<Record<IdentityKind, (name: string) => Promise<Item | undefined>>> = {
    policy: async (name) => policyItem(await identities.policy(name)),
    user: async (name) => userItem(await identities.user(name)),
    group: async (name) => groupItem(await identities.group(name)),
    async attachment(name) {
      const target = targetOf(name);
      const policies = await identities.attached(target);
      return policies.length === 0 ? undefined : attachmentItem(target, policies);
    },
    'service-account': async (name) => accountItem(await identities.serviceAccount(name), clock()),
  };
  const writers: Readonly<Record<IdentityKind, (name: string, value: unknown) => Promise<unknown>>> = {
    policy: (name, value) => identities.putPolicy(name, policyValue.parse(value).document),
    user: (accessKey, value) => identities.putUser({ accessKey, ...userValue.parse(value) }),
    group: (name, value) => writeGroup(identities, name, groupValue.parse(value)),
    attachment(_name, value) {
      const { target, policies } = attachmentValue.parse(value);
      return identities.setAttached(target, policies);
    },
    'service-account': (accessKey, value) => writeAccount(identities, accessKey, accountValue.parse(value)),
  };
  const removers: Readonly<Record<IdentityKind, (name: string) => Promise<unknown>>> = {
    async policy(name) {
      // A removal that is later than the attachment wins over it.
      for await (const target of identities.attachedTo(name)) await identities.detach(target, [name]);
      await identities.removePolicy(name);
    },
    user: (name) => removeUserAndCredentials({ identities, temporary }, name),
    async group(name) {
      const group = await identities.group(name);
      if (group !== undefined && group.members.length > 0) await identities.removeMembers(name, group.members);
      await identities.removeGroup(name);
    },
    attachment: (name) => identities.setAttached(targetOf(name), []),
    'service-account': (name) => identities.removeServiceAccount(name),
  };
  return {
    kinds,
    async *list() {
      for (const kind of kinds) for await (const item of lists[kind]()) if (item !== undefined) yield item;
    },
    read: async (key) => (await readers[kindOf(key)](key.name))?.value,
    async write(key, value) {
      await writers[kindOf(key)](key.name, value);
    },
    async remove(key) {
      try {
        await removers[kindOf(key)](key.name);
      } catch (error) {
        if (!(error instanceof IdentityError) || !error.code.startsWith('no-such-')) throw error;
      }
    },
  };
}

function policyItem(policy: NamedDocument | undefined): Item | undefined {
  if (policy?.stored === undefined) return undefined;
  const { name, json, stored } = policy;
  return { kind: 'policy', name, value: { document: json }, updatedAt: stored.updatedAt };
}

function userItem(user: User | undefined): Item | undefined {
  if (user === undefined) return undefined;
  const { accessKey: name, secretKey, status: state, updatedAt } = user;
  return { kind: 'user', name, value: { secretKey, status: state }, updatedAt };
}

function groupItem(group: Group | undefined): Item | undefined {
  if (group === undefined) return undefined;
  const { name, status: state, members, updatedAt } = group;
  return { kind: 'group', name, value: { status: state, members: members.toSorted() }, updatedAt };
}

function attachmentItem(target: AttachmentTarget, policies: readonly string[]): Item {
  const name = JSON.stringify(partsOf(target));
  return { kind: 'attachment', name, value: { target, policies: policies.toSorted() } };
}

function accountItem(account: ServiceAccount | undefined, now: number): Item | undefined {
  if (account === undefined || account.subject.kind === 'root') return undefined;
  const { accessKey, subject, secretKey, status: state, expiration, updatedAt } = account;
  if (expiration !== undefined && expiration <= now) return undefined;
  const { policy, name, description } = account;
  const value = { subject, secretKey, status: state, policy, name, description, expiration };
  return { kind: 'service-account', name: accessKey, value, updatedAt };
}

function kindOf({ kind }: ItemKey): IdentityKind {
  return z.enum(kinds).parse(kind);
}

function targetOf(name: string) {
  const [kind = '', first = '', claim = '', value = ''] = z.array(z.string()).parse(JSON.parse(name));
  return attachmentTarget.parse(kind === 'claim' ? { kind, provider: first, claim, value } : { kind, name: first });
}

async function writeGroup(
  identities: Identities,
  name: string,
  { status: state, members }: z.infer<typeof groupValue>,
): Promise<void> {
  const known = await identities.group(name);
  const gone = (known?.members ?? []).filter((member) => !members.includes(member));
  await identities.addMembers(name, members);
  if (gone.length > 0) await identities.removeMembers(name, gone);
  if ((known?.status ?? 'enabled') !== state) await identities.setGroupStatus(name, state);
}

async function writeAccount(
  identities: Identities,
  accessKey: string,
  { subject, expiration, ...value }: z.infer<typeof accountValue>,
): Promise<void> {
  if (subject.kind === 'root') throw new Error(`the access key ${accessKey} of a root user stays on its site`);
  const { secretKey, status: state, policy, name, description } = value;
  const end = expiration === undefined ? undefined : new Date(expiration);
  if ((await identities.serviceAccount(accessKey)) === undefined) {
    await identities.createServiceAccount({
      subject,
      accessKey,
      secretKey,
      status: state,
      ...optionalField('policy', policy),
      ...optionalField('name', name),
      ...optionalField('description', description),
      ...optionalField('expiration', end),
    });
    return;
  }
  await identities.updateServiceAccount(accessKey, {
    secretKey,
    status: state,
    policy: policy ?? null,
    name: name ?? null,
    description: description ?? null,
    expiration: end ?? null,
  });
}
