/** The report of one server, or of several together. */
export interface HostReport {
  readonly hosts: readonly string[];
  readonly aggregated?: Readonly<Record<string, unknown>>;
  readonly by_host?: Readonly<Record<string, unknown>>;
  readonly by_disk?: Readonly<Record<string, unknown>>;
  /** Why servers are missing. */
  readonly errors?: readonly string[];
}

/** The parts of a report that each server has of its own. Those of the first report hold for the others that it has. */
const ownParts = ['disk', 'net', 'mem', 'cpu'] as const;

/** Joins reports of several servers: counters are summed, and the parts that servers share are those of the first report. */
export function mergedReports(first: HostReport, others: readonly HostReport[]): HostReport {
  if (others.length === 0) return first;
  const all = [first, ...others];
  const aggregated: Record<string, unknown> = { ...first.aggregated };
  for (const part of ownParts) {
    const parts: unknown[] = all.map((report) => report.aggregated?.[part]).filter((value) => value !== undefined);
    if (parts.length > 0) aggregated[part] = parts.reduce(summed);
  }
  const errors = all.flatMap((report) => report.errors ?? []);
  return {
    ...first,
    hosts: all.flatMap(({ hosts }) => hosts),
    aggregated,
    ...joined('by_host', all),
    ...joined('by_disk', all),
    ...(errors.length > 0 && { errors }),
  };
}

/** Servers may have the same path: the first one keeps it, and others have their address before it. */
function joined(field: 'by_host' | 'by_disk', reports: readonly HostReport[]): object {
  const values: Record<string, unknown> = {};
  for (const report of reports) {
    for (const [name, value] of Object.entries(report[field] ?? {})) {
      values[Object.hasOwn(values, name) ? `${report.hosts[0] ?? ''}${name}` : name] = value;
    }
  }
  return Object.keys(values).length > 0 || reports.some((report) => report[field] !== undefined)
    ? { [field]: values }
    : {};
}

/** Sums numbers of equal names at every depth. Anything else is that of the first. */
function summed(one: unknown, other: unknown): unknown {
  if (typeof one === 'number' && typeof other === 'number') return one + other;
  if (!isObject(one) || !isObject(other)) return one ?? other;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, summed(one[name], other[name])]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
