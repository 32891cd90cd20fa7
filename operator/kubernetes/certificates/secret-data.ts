import type { KubeObject } from '../../kube/kube-api.ts';

/** The values of a core/v1 Secret, decoded. */
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
