/** How many times MinIO's figure Coffer's is to be, in one run on two cores. */
export interface Target {
  readonly load: string;
  readonly connections: number;
  readonly ratio: number;
}

export const targets: readonly Target[] = [
  { load: 'put-4KiB', connections: 32, ratio: 6 },
  { load: 'get-4KiB', connections: 32, ratio: 3 },
  { load: 'head-4KiB', connections: 32, ratio: 3 },
  { load: 'delete-4KiB', connections: 32, ratio: 6 },
  { load: 'list', connections: 32, ratio: 4 },
  { load: 'put-8MiB', connections: 4, ratio: 1.2 },
  { load: 'get-8MiB', connections: 4, ratio: 1 },
];

/** The least share of its own rate without encryption that Coffer is to have with SSE-KMS, at any number of connections. */
export const encryptionTargets: ReadonlyMap<string, number> = new Map([
  ['put-4KiB', 0.8],
  ['get-4KiB', 0.8],
  ['put-8MiB', 0.85],
  ['get-8MiB', 0.85],
]);

/** The process is to be ready within this with 1,000,000 objects. */
export const readyWithinMs = 1_000;

export function targetOf(load: string, connections: number): Target | undefined {
  return targets.find((target) => target.load === load && target.connections === connections);
}
