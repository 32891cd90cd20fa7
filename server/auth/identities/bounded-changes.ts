import { builtInPolicies } from '../../../protocol/policy/built-in-policies.ts';
import { serializePolicy, type PolicyDocument, type PolicyStatement } from '../../../protocol/policy/document.ts';
import { isWithin } from '../../../protocol/policy/is-within.ts';
import { parsePolicyDocument } from '../../../protocol/policy/parse-policy.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { decodeKey } from '../../store/keys.ts';
import {
  attachmentSchema,
  groupSchema,
  policySchema,
  serviceAccountSchema,
  userSchema,
  type Group,
  type ServiceAccount,
  type User,
} from './records.ts';
import { ownerOf, type AttachmentTarget } from './subject.ts';
import { targetOf, targetAt, type Change, type IdentityBatch, type IdentityView } from './transaction.ts';

/** The permission boundary of the credentials that make a change. */
export interface CallerBoundary {
  readonly document: PolicyDocument;
  /** The owner of the credentials (`ownerOf`). */
  readonly owner: string;
}

/**
 * Returns changes that give nobody more than the boundary allows. Without this check, credentials with a boundary could remove it: by
 * another policy, another secret key, a user, a group or a key of their own. It reads what a change writes, in the transaction of the
 * change, so that no call can leave it out and no other change comes between.
 */
export function boundedChange(change: Change, boundary: CallerBoundary): Change {
  return (decide) =>
    change(async (view) => {
      const decided = await decide(view);
      await checkBatch(view, decided.batch, boundary);
      return decided;
    });
}

async function checkBatch(view: IdentityView, batch: IdentityBatch, boundary: CallerBoundary): Promise<void> {
  const check = new BoundaryCheck(view, boundary);
  const removed = (batch.delete ?? []).map((key) => partsOfKey(key));
  // The removal of a user gives nobody more rights.
  const isRemoved = (user: string) => removed.some(([kind, name]) => kind === 'user' && name === user);
  for (const { key, value } of batch.put ?? []) {
    const [kind = '', name = ''] = partsOfKey(key);
    if (kind === 'user') await check.user(userSchema.parse(value));
    if (kind === 'group') await check.group(groupSchema.parse(value), isRemoved);
    if (kind === 'policy') await check.policy(name, parsePolicyDocument(policySchema.parse(value).document));
    if (kind === 'service-account') await check.serviceAccount(serviceAccountSchema.parse(value));
    if (kind === 'attachment') {
      await check.attachment(targetOf(key, targetAt), attachmentSchema.parse(value).policies);
    }
  }
  for (const key of batch.delete ?? []) {
    const [kind = '', name = ''] = partsOfKey(key);
    if (kind === 'policy') await check.policy(name, builtInPolicies.get(name));
    if (kind !== 'attachment') continue;
    const target = targetOf(key, targetAt);
    if (target.kind !== 'user' || !isRemoved(target.name)) await check.attachment(target, []);
  }
}

/** The kind of the record, and its name. */
function partsOfKey(key: Buffer): string[] {
  return decodeKey(key)
    .slice(targetAt - 1)
    .map(String);
}

class BoundaryCheck {
  readonly #view: IdentityView;
  readonly #boundary: CallerBoundary;

  constructor(view: IdentityView, boundary: CallerBoundary) {
    this.#view = view;
    this.#boundary = boundary;
  }

  /** A caller who sets a secret key can act as the user, and an enabled user has all rights again. */
  async user({ accessKey, secretKey, status }: User): Promise<void> {
    const before = await this.#view.user(accessKey);
    const isKnown = before?.secretKey === secretKey;
    if (isKnown && (status === 'disabled' || before.status === 'enabled')) return;
    const groups = await Promise.all((await this.#view.groupNamesOf(accessKey)).map((name) => this.#view.group(name)));
    const targets = groups.flatMap((group) =>
      group?.status === 'enabled' ? [{ kind: 'group' as const, name: group.name }] : [],
    );
    for (const target of [{ kind: 'user' as const, name: accessKey }, ...targets]) {
      for (const policy of await this.#attached(target)) await this.#requireWithin(policy, `of the user ${accessKey}`);
    }
  }

  async group({ name, members, status }: Group, isRemoved: (user: string) => boolean): Promise<void> {
    const before = await this.#view.group(name);
    const membersBefore = before?.members ?? [];
    const [isOn, wasOn] = [status === 'enabled', before?.status === 'enabled'];
    const joined = members.some((member) => !membersBefore.includes(member));
    const left = membersBefore.some((member) => !members.includes(member) && !isRemoved(member));
    for (const policy of await this.#attached({ kind: 'group', name })) {
      if (isOn && (joined || !wasOn)) await this.#requireWithin(policy, `of the group ${name}`);
      if (wasOn && (left || !isOn)) this.#keepDenies(policy, await this.#document(policy), undefined);
    }
  }

  async attachment(target: AttachmentTarget, policies: readonly string[]): Promise<void> {
    const before = await this.#attached(target);
    for (const name of policies) if (!before.includes(name)) await this.#requireWithin(name, 'to attach');
    for (const name of before) {
      if (!policies.includes(name)) this.#keepDenies(name, await this.#document(name), undefined);
    }
  }

  /** Credentials of external users may name a policy that is attached to nothing. */
  async policy(name: string, after: PolicyDocument | undefined): Promise<void> {
    const before = await this.#document(name);
    this.#keepDenies(name, before, after);
    const known = new Set(before?.statements.map(contentOf));
    const statements = after?.statements.filter((one) => one.effect === 'Deny' || !known.has(contentOf(one))) ?? [];
    const added: PolicyDocument = { version: after?.version ?? '2012-10-17', statements };
    if (!isWithin(added, this.#boundary.document)) throw outside(`the new version of the policy ${name} allows`);
  }

  async serviceAccount(account: ServiceAccount): Promise<void> {
    const before = await this.#view.serviceAccount(account.accessKey);
    const never = Number.POSITIVE_INFINITY;
    const gains =
      before === undefined ||
      before.secretKey !== account.secretKey ||
      before.policy !== account.policy ||
      (before.status === 'disabled' && account.status === 'enabled') ||
      (account.expiration ?? never) > (before.expiration ?? never);
    if (!gains) return;
    const { document, owner } = this.#boundary;
    if (account.policy !== undefined) {
      const policy = parsePolicyDocument(account.policy);
      if (isWithin(policy, document)) return;
      // The variables of a boundary have the same values for all keys of one owner. The kind of principal differs.
      const text = serializePolicy(document);
      const isSame = serializePolicy(policy) === text && !/principaltype/i.test(text);
      if (isSame && ownerOf(account.subject) === owner) return;
    }
    throw outside(
      `the access key ${account.accessKey} ${account.policy === undefined ? 'without a policy ' : ''}allows`,
    );
  }

  async #attached(target: AttachmentTarget): Promise<readonly string[]> {
    return (await this.#view.attachment(target))?.policies ?? [];
  }

  async #document(name: string): Promise<PolicyDocument | undefined> {
    const stored = await this.#view.policy(name);
    return stored === undefined ? builtInPolicies.get(name) : parsePolicyDocument(stored.document);
  }

  async #requireWithin(name: string, relation: string): Promise<void> {
    const document = await this.#document(name);
    if (document !== undefined && !isWithin(document, this.#boundary.document)) {
      throw outside(`the policy ${name} ${relation} allows`);
    }
  }

  /** A statement that denies something may restrict rights of others, which this check does not know. */
  #keepDenies(name: string, before: PolicyDocument | undefined, after: PolicyDocument | undefined): void {
    const kept = new Set(after?.statements.map(contentOf));
    const lost = before?.statements.find((one) => one.effect === 'Deny' && !kept.has(contentOf(one)));
    if (lost === undefined) return;
    throw new S3Error(
      'AccessDenied',
      `Access denied: the policy ${name} denies something, and credentials with a policy of their own lift no such restriction. ${advice}`,
    );
  }
}

/** A Sid and the order of lists do not count. */
function contentOf({ effect, actions, resources, conditions }: PolicyStatement): string {
  return JSON.stringify([effect, actions, resources, conditions]);
}

const advice = 'Use credentials that are not restricted.';

function outside(what: string): S3Error {
  return new S3Error(
    'AccessDenied',
    `Access denied: ${what} more than the policy of these credentials, and they give nobody more than they have. ${advice}`,
  );
}
