import { refuse } from '../http/refused.ts';
import { json } from './call.ts';
import type { Answer, Call } from './call.ts';

/** Who the caller is and what it may do. Any client certificate may ask. */
export async function describeSelf({ service, identity }: Call): Promise<Answer> {
  if (identity === undefined) throw refuse('noClientCertificate');
  const created_at = new Date(service.startedAt).toISOString();
  if (service.authorizer.isAdmin(identity)) return json({ identity, admin: true, created_at });
  const policy = service.authorizer.policyOf(identity);
  // The generations disagree on the type of `policy`, and both read an answer without it.
  if (policy === undefined) return json({ identity, created_at });
  const { name, allow, deny } = policy;
  return json({ identity, policy_name: name, created_at, policy: { created_at, allow, deny } });
}
