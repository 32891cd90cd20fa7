import type { PolicyDocument } from './document.ts';

/** Policies that exist in every store, by name, and cannot be changed. */
export const builtInPolicies: ReadonlyMap<string, PolicyDocument> = new Map();
