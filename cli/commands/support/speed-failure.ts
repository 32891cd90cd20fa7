/** The results of servers, or of drives. */
const lists = ['nodeResults', 'drivePerf'] as const;

/**
 * Returns why a measurement measured nothing: the reasons of its servers or drives, where each of them has one. The status does not
 * say so, since a server answers 200 before it measures. Undefined where something was measured.
 */
export function speedFailure(result: unknown): string | undefined {
  const parts = lists.flatMap(
    (name) => (result as Partial<Record<typeof name, readonly unknown[]>> | null)?.[name] ?? [],
  );
  const reasons = parts.map((part) => (part as { readonly error?: string }).error ?? '');
  if (reasons.length === 0 || reasons.includes('')) return undefined;
  return [...new Set(reasons)].join('; ');
}
