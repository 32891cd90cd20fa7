import { describeTarget } from '../../identities/attachment-target.ts';
import type { AttachmentTarget } from '../../identities/attachment-target.ts';
import type { IdentityReader } from '../../identities/identities.ts';
import type { Subject } from '../../identities/subject.ts';

/** By what each policy of a subject counts, in words: a policy may do so in several ways. */
export async function policiesThrough(
  subject: Subject,
  identities: Pick<IdentityReader, 'attached' | 'groupsOf'>,
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const add = (policy: string, words: string) => found.set(policy, [...(found.get(policy) ?? []), words]);
  if (subject.kind === 'federated') for (const name of subject.policies) add(name, 'the claim or role of the provider');
  for (const target of await targetsOf(subject, identities)) {
    for (const name of await identities.attached(target)) add(name, describeTarget(target));
  }
  return found;
}

async function targetsOf(
  subject: Subject,
  identities: Pick<IdentityReader, 'groupsOf'>,
): Promise<readonly AttachmentTarget[]> {
  switch (subject.kind) {
    case 'root':
      return [];
    case 'federated':
      return subject.targets;
    case 'user': {
      const groups = (await identities.groupsOf(subject.name)).filter(({ status }) => status === 'enabled');
      return [{ kind: 'user', name: subject.name }, ...groups.map(({ name }) => ({ kind: 'group' as const, name }))];
    }
    default:
      return subject satisfies never;
  }
}
