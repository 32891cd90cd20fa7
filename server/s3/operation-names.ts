import { preflightName } from './cross-origin.ts';
import { routes } from './routes.ts';

/** The operations that have counters. All threads use the same order. */
export const operationNames: readonly string[] = [
  ...new Set([...routes.map(([, , , { name }]) => name), preflightName]),
];
