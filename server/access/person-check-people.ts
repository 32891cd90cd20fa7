import type { Identities } from '../identities/identities.ts';
import type { FederatedSubject, Subject } from '../identities/subject.ts';
import { questionOf } from './person-source.ts';
import type { TemporaryCredentialsStore } from './temporary-credentials.ts';

export interface CheckedPerson {
  readonly subject: FederatedSubject;
}

export interface PeopleSources {
  readonly temporary: Pick<TemporaryCredentialsStore, 'owners' | 'ofOwner'>;
  readonly identities: Pick<Identities, 'serviceAccounts'>;
}

/**
 * Everyone of an OpenID provider or a directory who has temporary credentials or an enabled service account, each once for all that share
 * one answer; or those that `who` names.
 */
export async function* checkedPeople(sources: PeopleSources, who?: string): AsyncIterable<CheckedPerson> {
  // Hashes of 43 characters, or DNs with those of groups: a hundred thousand people are some ten MiB.
  const seen = new Set<string>();
  for await (const subject of subjects(sources)) {
    const question = questionOf(subject);
    if (seen.has(question)) continue;
    seen.add(question);
    if (who === undefined || [subject.parent, subject.subjectId, subject.displayName].includes(who)) yield { subject };
  }
}

async function* subjects({ temporary, identities }: PeopleSources): AsyncIterable<FederatedSubject> {
  for await (const owner of temporary.owners()) {
    for await (const { principal } of temporary.ofOwner(owner)) {
      const { subject } = principal;
      if (!isOfProvider(subject)) break;
      yield subject;
      // Those of one person of an OpenID provider are alike.
      if (subject.source === 'openid') break;
    }
  }
  for await (const { subject, status } of identities.serviceAccounts()) {
    if (status === 'enabled' && isOfProvider(subject)) yield subject;
  }
}

function isOfProvider(subject: Subject): subject is FederatedSubject {
  return subject.kind === 'federated' && (subject.source === 'openid' || subject.source === 'ldap');
}
