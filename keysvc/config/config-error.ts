import type { z } from 'zod';

const maxIssues = 5;
const secretPlaces = /password|secret|token|jwt|approle|private_key$/i;

/** Describes the issues of a configuration, one line for each setting, with its value unless it is secret. */
export function describeIssues(error: z.ZodError, input: unknown, prefix = ''): string {
  const lines = error.issues.slice(0, maxIssues).map((issue) => describe(issue, input, prefix));
  const more = error.issues.length - maxIssues;
  return more > 0 ? `${lines.join('\n')}\nand ${more} more` : lines.join('\n');
}

function describe(issue: z.core.$ZodIssue, input: unknown, prefix: string): string {
  const place = [prefix, ...issue.path.map(String)].filter((part) => part !== '').join('.') || 'the configuration';
  if (issue.code === 'unrecognized_keys') return `${place} has unknown settings: ${issue.keys.join(', ')}`;
  if (issue.code === 'invalid_key') return `${place}: ${issue.issues.map((inner) => inner.message).join('; ')}`;
  const value = issue.path.reduce<unknown>(
    (at, name) => (typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[name] : undefined),
    input,
  );
  const shown =
    value === undefined || typeof value === 'object' || secretPlaces.test(place)
      ? ''
      : ` (it is ${JSON.stringify(value)})`;
  return `${place}: ${issue.message}${issue.code === 'custom' ? '' : shown}`;
}
