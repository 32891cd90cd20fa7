/** The refusals of commits that cross places (`places.ts`), of this process and of the servers that it started. */
const crossings: Error[] = [];

export function noteCrossing(error: Error): void {
  crossings.push(error);
}

/** A server ends with this error of `places.ts`. Its tests see only that it no longer answers. */
export function noteCrossingOf(line: string): void {
  if (line.includes('(crossingCommits in places.ts)')) noteCrossing(new Error(`coffer-server: ${line}`));
}

/** Returns the refusals since the last call. */
export function takeCrossings(): readonly Error[] {
  return crossings.splice(0);
}
