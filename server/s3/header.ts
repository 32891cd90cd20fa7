import type { IncomingHttpHeaders } from 'node:http';

/** A header's value, joined where it repeats; undefined when absent. */
export function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
