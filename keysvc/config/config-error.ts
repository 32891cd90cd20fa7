import type { z } from 'zod';
import { redactText } from '../../platform/output/redact-secrets.ts';

const maxIssues = 5;
const secretPlaces = /password|secret|token|jwt|approle|credentials|private_key$/i;
/** The longest value that is shown. */
const maxShown = 128;

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
  if (issue.code === 'invalid_type' && (value === undefined || value === null)) return `${place}: is missing`;
  const shown =
    value === undefined || typeof value === 'object' || isSection(issue) || secretPlaces.test(place)
      ? ''
      : ` (it is ${redactText(JSON.stringify(value)).slice(0, maxShown)})`;
  return `${place}: ${issue.message}${issue.code === 'custom' ? '' : shown}`;
}

/** Reports whether settings below this place were expected. What was written instead may be one of their secrets, or a whole file. */
function isSection(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && ['object', 'record', 'array'].includes(issue.expected);
}
