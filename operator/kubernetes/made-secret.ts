import { KubeError, type Cache, type KubeApi, type KubeObject } from '../kube/kube-api.ts';
import { asRefusal } from './refusal.ts';

/**
 * A Secret that is made once and kept as it is. Of two that make it at the same time the first wins, and both have that one. Errors
 * with a `RefusedObject` or a `KubeError`.
 */
export async function madeSecret(
  { api, secrets }: { readonly api: KubeApi; readonly secrets: Cache },
  namespace: string,
  name: string,
  make: () => KubeObject,
): Promise<KubeObject> {
  const known = secrets.get(namespace, name) ?? (await api.get(secrets.type, namespace, name));
  if (known !== undefined) return known;
  const wanted = make();
  try {
    const made = await api.create(wanted);
    secrets.wrote(made);
    return made;
  } catch (error) {
    if (!(error instanceof KubeError && error.status === 409)) throw asRefusal(error, wanted);
    const other = await api.get(secrets.type, namespace, name);
    if (other === undefined) throw error;
    return other;
  }
}
