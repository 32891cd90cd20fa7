import { readSealedJson } from '../../encryption/sealed-json.ts';
import type { z } from 'zod';
import type { SealedRecordStore } from '../../encryption/sealed-records.ts';
import { decodeKey } from '../../store/keys.ts';
import type { Key } from '../../store/record-store.ts';
import { type AttachmentTarget, attachmentTarget } from './subject.ts';
import {
  identityKeys,
  identityRanges,
  type Attachment,
  attachmentSchema,
  type Group,
  groupSchema,
  policySchema,
  type ServiceAccount,
  serviceAccountSchema,
  type StoredPolicy,
  type User,
  userSchema,
} from './records.ts';
import { changeInTurn, type TurnBatch } from '../../encryption/change-in-turn.ts';
import { IdentityError } from '../identity-error.ts';

type Records = Pick<SealedRecordStore, 'get' | 'scan'>;

/** The target's parts follow the prefix of the store, `iam` and the kind of record. */
export const targetAt = 3;

/** Reads records from the store each time. */
export class IdentityView {
  readonly #records: Records;
  constructor(records: Records) {
    this.#records = records;
  }

  user(accessKey: string): Promise<User | undefined> {
    return this.#one(identityKeys.user(accessKey), userSchema);
  }

  users(): AsyncIterable<User> {
    return this.#all(identityRanges.users, userSchema);
  }

  group(name: string): Promise<Group | undefined> {
    return this.#one(identityKeys.group(name), groupSchema);
  }

  groups(): AsyncIterable<Group> {
    return this.#all(identityRanges.groups, groupSchema);
  }

  async groupNamesOf(user: string): Promise<string[]> {
    return this.#lastParts(identityRanges.memberships(user));
  }

  policy(name: string): Promise<StoredPolicy | undefined> {
    return this.#one(identityKeys.policy(name), policySchema);
  }

  policies(): AsyncIterable<StoredPolicy> {
    return this.#all(identityRanges.policies, policySchema);
  }

  attachment(target: AttachmentTarget): Promise<Attachment | undefined> {
    return this.#one(identityKeys.attachment(target), attachmentSchema);
  }

  async *attachments(
    range: { readonly start: Buffer; readonly end: Buffer } = identityRanges.attachments,
  ): AsyncIterable<{ readonly target: AttachmentTarget } & Attachment> {
    for await (const entry of this.#records.scan(range)) {
      yield { target: targetOf(entry.key, targetAt), ...readSealedJson(attachmentSchema, entry) };
    }
  }

  async *attachedTo(policy: string): AsyncIterable<AttachmentTarget> {
    for await (const entry of this.#records.scan(identityRanges.attachedTo(policy))) {
      yield targetOf(entry.key, targetAt + 1);
    }
  }

  serviceAccount(accessKey: string): Promise<ServiceAccount | undefined> {
    return this.#one(identityKeys.serviceAccount(accessKey), serviceAccountSchema);
  }

  async *serviceAccounts(owner?: string): AsyncIterable<ServiceAccount> {
    if (owner === undefined) {
      yield* this.#all(identityRanges.serviceAccounts, serviceAccountSchema);
      return;
    }
    for (const accessKey of await this.#lastParts(identityRanges.owned(owner))) {
      const account = await this.serviceAccount(accessKey);
      // Another change removed the account after the index was read.
      if (account !== undefined) yield account;
    }
  }

  async #one<T>(key: Key, schema: z.ZodType<T>): Promise<T | undefined> {
    const entry = await this.#records.get(key);
    return entry === undefined ? undefined : readSealedJson(schema, entry);
  }

  async *#all<T>(range: { readonly start: Buffer; readonly end: Buffer }, schema: z.ZodType<T>): AsyncIterable<T> {
    for await (const entry of this.#records.scan(range)) yield readSealedJson(schema, entry);
  }

  async #lastParts(range: { readonly start: Buffer; readonly end: Buffer }): Promise<string[]> {
    const names: string[] = [];
    for await (const entry of this.#records.scan(range)) names.push(String(decodeKey(entry.key).at(-1)));
    return names;
  }
}

export function targetOf(key: Key, at: number): AttachmentTarget {
  const [kind, first = '', claim, value] = decodeKey(key).slice(at).map(String);
  return attachmentTarget.parse(kind === 'claim' ? { kind, provider: first, claim, value } : { kind, name: first });
}

/** The puts and deletes of a change. The head record is added to them. */
export type IdentityBatch = TurnBatch;

/** Reads the records and returns the change. It runs again if another change was committed meanwhile. */
export type Decide<T> = (view: IdentityView) => Promise<{ readonly batch: IdentityBatch; readonly result: T }>;

/** Runs one change; see `createChange`. */
export type Change = <T>(decide: Decide<T>) => Promise<T>;

/** Serializes changes across threads and servers. */
export function createChange(records: SealedRecordStore, changed: () => void): Change {
  return async (decide) => {
    const done = await changeInTurn({
      records,
      head: identityKeys.head,
      decide: () => decide(new IdentityView(records)),
      tried: changed,
    });
    if (done === undefined) throw new IdentityError('busy', 'Identities are being changed by many at once; try again.');
    return done.result;
  };
}
