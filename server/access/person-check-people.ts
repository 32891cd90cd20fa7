import type { Identities } from '../identities/identities.ts';
import type { FederatedSubject } from '../identities/subject.ts';
import type { TemporaryCredentialsStore } from './temporary-credentials.ts';

export interface CheckedPerson {
  readonly subject: FederatedSubject;
}

export interface PeopleSources {
  readonly temporary: Pick<TemporaryCredentialsStore, 'owners' | 'ofOwner'>;
  readonly identities: Pick<Identities, 'serviceAccounts'>;
}

/** Everyone of an OpenID provider who has temporary credentials or an enabled service account, each once; or those that `who` names. */
export async function* checkedPeople(sources: PeopleSources, who?: string): AsyncIterable<CheckedPerson> {
  // Hashes of 43 characters: a hundred thousand people are some MiB.
  const seen = new Set<string>();
  for await (const subject of subjects(sources)) {
    if (seen.has(subject.parent)) continue;
    seen.add(subject.parent);
    if (who === undefined || [subject.parent, subject.subjectId, subject.displayName].includes(who)) yield { subject };
  }
}

async function* subjects({ temporary, identities }: PeopleSources): AsyncIterable<FederatedSubject> {
  for await (const owner of temporary.owners()) {
    for await (const { principal } of temporary.ofOwner(owner)) {
      const { subject } = principal;
      if (subject.kind !== 'federated' || subject.source !== 'openid') break;
      yield subject;
      break;
    }
  }
  for await (const { subject, status } of identities.serviceAccounts()) {
    if (status === 'enabled' && subject.kind === 'federated' && subject.source === 'openid') yield subject;
  }
}
