import type { Subject } from '../identities/subject.ts';
import type { Principal } from './principal.ts';

/** Whose rights the principal has; undefined for a stranger. */
export function subjectOf(principal: Principal): Subject | undefined {
  switch (principal.kind) {
    case 'anonymous':
      return undefined;
    case 'root':
      return { kind: 'root' };
    case 'user':
    case 'temporary':
    case 'service-account':
      return principal.subject;
    default:
      return principal satisfies never;
  }
}

/** What a person recognises: the name of the user, what the provider calls them, the access key of root, `root` for the keys of root. */
export function displayNameOf(principal: Exclude<Principal, { readonly kind: 'anonymous' }>): string {
  const subject = subjectOf(principal);
  if (subject?.kind === 'user') return subject.name;
  if (subject?.kind === 'federated') return subject.displayName;
  return principal.kind === 'root' ? principal.accessKey : 'root';
}
