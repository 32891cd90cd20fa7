interface Problems {
  readonly byKey: ReadonlyMap<string, string>;
  /** Errors of no key or of several. */
  readonly other: Error | undefined;
}

/** Splits the error of a configuration into errors by key. They are separated by `;`, and each begins with its key. */
export function problemsByKey(error: Error | null, keys: readonly string[]): Problems {
  if (error === null) return { byKey: new Map(), other: undefined };
  const byKey = new Map<string, string>();
  const others: string[] = [];
  for (const issue of error.message.split(/; (?=[a-z_]+ )/)) {
    const key = keys.find((one) => issue.startsWith(`${one} `));
    if (key === undefined || issue.startsWith(`${key} and `)) others.push(issue);
    else byKey.set(key, issue);
  }
  if (byKey.size === 0) return { byKey, other: error };
  return { byKey, other: others.length === 0 ? undefined : new Error(others.join('; ')) };
}
