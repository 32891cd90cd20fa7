import type { EnvironmentVariable, Mount, MountedFile, RestartInput } from '../workload.ts';

/** What one subject of a spec (TLS, encryption, storage, …) adds to a workload. */
export interface RenderedPart {
  readonly environment: readonly EnvironmentVariable[];
  readonly files: readonly MountedFile[];
  readonly inputs: readonly RestartInput[];
}

export const nothing: RenderedPart = { environment: [], files: [], inputs: [] };

/** The mount of these files; none where there are none. */
export function filesMount(name: string, files: readonly MountedFile[]): readonly Mount[] {
  return files.length === 0 ? [] : [{ kind: 'files', name, files }];
}
