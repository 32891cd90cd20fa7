interface Problems {
  readonly byKey: ReadonlyMap<string, string>;
  /** What is about no key, or about several. */
  readonly other: Error | undefined;
}

/** A refusal of a configuration is a list of problems, `;` between them, each beginning with the key that it is about. */
export function problemsByKey(error: Error | null, keys: readonly string[]): Problems {
  if (error === null) return { byKey: new Map(), other: undefined };
  const byKey = new Map<string, string>();
  const others: string[] = [];
  for (const problem of error.message.split(/; (?=[a-z_]+ )/)) {
    const key = keys.find((one) => problem.startsWith(`${one} `));
    if (key === undefined || problem.startsWith(`${key} and `)) others.push(problem);
    else byKey.set(key, problem);
  }
  if (byKey.size === 0) return { byKey, other: error };
  return { byKey, other: others.length === 0 ? undefined : new Error(others.join('; ')) };
}
