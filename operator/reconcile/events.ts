import type { ResourceReference } from '../workload.ts';

/** Something that happened to a resource, for people. */
export interface OperatorEvent {
  readonly about: ResourceReference;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}
