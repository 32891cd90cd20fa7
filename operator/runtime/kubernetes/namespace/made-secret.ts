import { type KubeObject, KubeError, type Cache, type KubeApi } from '../../../kube-client/kube-api.ts';
import { asRefusal } from '../workload/object-writer.ts';

/** Returns the decoded values of a core/v1 Secret. */
export function secretData(secret: KubeObject | undefined): Readonly<Record<string, string | undefined>> {
  const data = secret?.['data'];
  if (typeof data !== 'object' || data === null) return {};
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) =>
      typeof value === 'string' ? [[key, Buffer.from(value, 'base64').toString('utf8')]] : [],
    ),
  );
}

export function encodeData(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
  );
}

/**
 * Returns a Secret that is made once and never changed. When two callers make it at the same time, both get the one of the first. Errors
 * with a `ResourceError` or a `KubeError`.
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
