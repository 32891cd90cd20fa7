import type { PolicyDocument } from '../../../protocol/policy/document.ts';
import { noKeySource } from '../../../server/encryption/key-source.ts';
import { sealedRecords } from '../../../server/encryption/sealed-records.ts';
import { MemoryRecordStore } from '../../../server/store/memory/record-store.ts';
import { openIdentities } from '../../../server/auth/identities/open-identities.ts';
import type { Group } from '../../../server/auth/identities/records.ts';
import type { FederatedSubject, Subject } from '../../../server/auth/identities/subject.ts';

/** Policies that are in memory, and subjects that have what their credentials name, for tests of decisions. */
export function fixedHolders(
  policies: ReadonlyMap<string, PolicyDocument>,
  groups: Readonly<Record<string, readonly Group[]>> = {},
) {
  return {
    policy(name: string) {
      const document = policies.get(name);
      return Promise.resolve(document && { name, document });
    },
    policiesOf: (subject: Subject) => Promise.resolve(subject.kind === 'federated' ? subject.policies : []),
    groupsOf: (user: string) => Promise.resolve(groups[user] ?? []),
  };
}

/** Ann, whom an OpenID provider knows. */
export function federated(changes: Partial<FederatedSubject> = {}): FederatedSubject {
  return {
    kind: 'federated',
    source: 'openid',
    provider: 'P',
    parent: 'parent-of-ann',
    displayName: 'ann',
    policies: ['readonly'],
    targets: [],
    claims: {},
    ...changes,
  };
}

/** Identities over records in memory. */
export async function testIdentities(options: { readonly clock?: () => Date; readonly rootUser?: string } = {}) {
  const records = sealedRecords({ records: new MemoryRecordStore(), keys: noKeySource });
  await records.start();
  const clock = options.clock ?? (() => new Date());
  return { records, identities: openIdentities({ records, rootUser: options.rootUser ?? 'root', staleMs: 0, clock }) };
}
