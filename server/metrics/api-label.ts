import { apiName } from '../access/api-name.ts';

/** The label `api` of an operation. */
export function apiLabel(operation: string): string {
  return apiName(operation).toLowerCase();
}
