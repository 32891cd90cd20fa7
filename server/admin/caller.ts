import type { AuthenticatedPrincipal } from '../access/principal.ts';
import type { Identities } from '../identities/identities.ts';

/** Whoever administers, as the rules about what is whose need them: a call of the admin API, or a person at the console. */
export interface Caller {
  readonly principal: AuthenticatedPrincipal;
  readonly services: { readonly identities: Identities; readonly root: { readonly user: string } };
  /** Rejects with `AccessDenied` where the caller's policies do not allow this: of several actions one, and none is denied. */
  require(action: string | readonly string[], resource?: string): Promise<void>;
}
