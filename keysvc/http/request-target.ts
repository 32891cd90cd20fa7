import { keyNameProblem, patternProblem } from '../../protocol/key-service/names.ts';
import { findRoute } from '../../protocol/key-service/routes.ts';
import type { Method, Route } from '../../protocol/key-service/routes.ts';
import { refuse, Refused } from './refused.ts';

/** The call that a request asks for. */
export interface RequestTarget {
  readonly route: Route;
  /** The name, pattern or identity that follows the path. */
  readonly written: string;
}

/** The path of a request, without its query and escapes; undefined where it is none. */
export function pathOf(url: string): string | undefined {
  try {
    // A path that begins with "//" must not be taken for the name of a host.
    return decodeURIComponent((url.startsWith('/') ? new URL(`https://keysvc${url}`) : new URL(url)).pathname);
  } catch {
    return undefined;
  }
}

/** Errors with a `Refused`. */
export function targetOf(method: string, path: string): RequestTarget {
  if (path.includes('//')) throw new Refused(404, `not found: the path ${path.slice(0, 200)} has an empty segment`);
  const found = findRoute(path);
  if (found === undefined) throw refuse('notImplemented');
  const { route } = found;
  if (!route.methods.includes(method as Method)) {
    throw refuse('methodNotAllowed', { headers: { accept: route.methods.join(', ') } });
  }
  return { route, written: found.argument };
}

/** Errors with a `Refused` where the name or pattern is none. A list without a pattern is one of everything. */
export function checkedArgument({ route, written }: RequestTarget): string {
  switch (route.argument) {
    case 'none':
      return '';
    case 'name':
      return checkedBy(keyNameProblem, written);
    case 'pattern':
      return checkedBy(patternProblem, written === '' ? '*' : written);
  }
}

function checkedBy(problemOf: (text: string) => string | undefined, argument: string): string {
  const problem = problemOf(argument);
  if (problem !== undefined) throw new Refused(400, problem);
  return argument;
}
