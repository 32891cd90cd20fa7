import { z } from 'zod';
import { parsePolicyDocument } from '../../protocol/policy/parse-policy.ts';
import { policyJson } from '../../protocol/policy/serialize-policy.ts';
import type { AccessKey } from '../api/object.ts';
import { sameDocument } from '../declared/same-document.ts';
import { accessKeyOf } from '../reconcile/credentials.ts';

/** As the admin API tells it. */
export const foundAccessKey = z.object({
  parentUser: z.string(),
  accountStatus: z.enum(['on', 'off']),
  /** Without a policy of its own. */
  impliedPolicy: z.boolean(),
  /** JSON: its own, or what its owner may do. */
  policy: z.string(),
  description: z.string().optional(),
  expiration: z.string().optional(),
});
export type FoundAccessKey = z.output<typeof foundAccessKey>;

/** Milliseconds since 1970, whole seconds as the server shows them; undefined where it never ends. */
export function expirationOf({ spec }: AccessKey): number | undefined {
  return spec.expiration === undefined ? undefined : Math.floor(Date.parse(spec.expiration) / 1_000) * 1_000;
}

export function newAccount(key: AccessKey, secretKey: string): Readonly<Record<string, unknown>> {
  const { user, policy, description } = key.spec;
  const end = expirationOf(key);
  return {
    accessKey: accessKeyOf(key),
    secretKey,
    ...(user === undefined ? {} : { targetUser: user }),
    ...(policy === undefined ? {} : { policy }),
    ...(description === undefined ? {} : { description }),
    ...(end === undefined ? {} : { expiration: new Date(end).toISOString() }),
  };
}

/** What stands for none in the admin API. */
const never = new Date(0).toISOString();

export interface AccessKeyChange {
  readonly difference: string;
  /** Of the call that updates a service account. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** What makes the found key the wanted one. A key is narrowed before it is let work, and stopped before all else. */
export function diffAccessKey(key: AccessKey, found: FoundAccessKey, secretKey: string): readonly AccessKeyChange[] {
  const { policy, description, disabled } = key.spec;
  const changes: AccessKeyChange[] = [];
  if (disabled && found.accountStatus === 'on') {
    changes.push({ difference: 'the key is on and should be off', body: { newStatus: 'off' } });
  }
  if (!samePolicy(policy, found)) {
    const difference =
      policy === undefined
        ? 'there is a policy and should be none'
        : `${found.impliedPolicy ? 'there is no' : 'another'} policy`;
    // A document without statements stands for none.
    changes.push({ difference, body: { newPolicy: policy ?? {} } });
  }
  const end = expirationOf(key);
  const foundEnd = found.expiration === undefined ? 0 : Date.parse(found.expiration);
  if ((end ?? 0) !== foundEnd) {
    const text = end === undefined ? never : new Date(end).toISOString();
    changes.push({ difference: 'the expiration differs', body: { newExpiration: text } });
  }
  // An empty one says nothing in the admin API: a description that was taken out stays.
  if (description !== undefined && description !== '' && description !== found.description) {
    changes.push({ difference: 'the description differs', body: { newDescription: description } });
  }
  if (!disabled && found.accountStatus === 'off') {
    changes.push({ difference: 'the key is off and should be on', body: { newStatus: 'on', newSecretKey: secretKey } });
  }
  return changes;
}

function samePolicy(wanted: AccessKey['spec']['policy'], found: FoundAccessKey): boolean {
  if (wanted === undefined) return found.impliedPolicy;
  return !found.impliedPolicy && sameDocument(asShown(wanted), JSON.parse(found.policy));
}

/** As the server shows it: one statement as a list, one action as a list. A document that it will refuse stays as it is. */
function asShown(document: unknown): unknown {
  try {
    return policyJson(parsePolicyDocument(JSON.stringify(document)));
  } catch {
    return document;
  }
}
