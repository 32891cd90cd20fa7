import { fitsPattern } from './fits-pattern.ts';
import type { TraceLine } from './trace-line.ts';

/** What of a trace is shown; patterns have `*` and `?` for any characters. Each option may be given several times: any of its values. */
export interface TraceFilter {
  readonly statusCode?: readonly string[];
  readonly method?: readonly string[];
  readonly funcname?: readonly string[];
  readonly path?: readonly string[];
  readonly node?: readonly string[];
}

export function isShown(line: TraceLine, { statusCode, method, funcname, path, node }: TraceFilter): boolean {
  const { request, response } = line.http ?? {};
  return (
    anyOf(statusCode, String(response?.statuscode ?? '')) &&
    anyOf(method, request?.method ?? '') &&
    anyOf(funcname, line.funcname ?? '') &&
    anyOf(path, (request?.path ?? line.path ?? '').replace(/^\//, '')) &&
    anyOf(node, line.nodename ?? '')
  );
}

function anyOf(patterns: readonly string[] | undefined, text: string): boolean {
  if (patterns === undefined) return true;
  return patterns.some((pattern) => fitsPattern(pattern.replace(/^\//, ''), text));
}
