import { json } from './call.ts';
import type { Answer, Call } from './call.ts';
import { orRefuse } from './key-store-refusal.ts';

export async function describeKey({ service, argument }: Call): Promise<Answer> {
  const { newest: key, all } = await orRefuse(service.keyring.versions(argument), 'accessFailed');
  return json({
    name: argument,
    id: key.id,
    algorithm: key.algorithm,
    created_at: key.createdAt?.toISOString(),
    created_by: key.createdBy,
    // Told where there is more than the protocol knows of.
    versions: all.length === 1 ? undefined : all.map(({ id }) => id),
  });
}
