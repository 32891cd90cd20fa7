// Decides which steps of the gate run. Pure functions: the paths that changed come in as an argument.

/**
 * @typedef {import('./steps.js').Step} Step
 * @typedef {object} Changes
 * @property {readonly string[] | undefined} paths Undefined when it is not known what changed.
 * @property {string} since What they are compared with, or why that is not known.
 */

/**
 * The steps that run, each with its reason, and those that do not.
 * @param {readonly Step[]} steps
 * @param {readonly (readonly [path: string, steps: readonly string[]])[]} areas
 * @param {Changes} changes
 * @returns {{ readonly runs: ReadonlyMap<string, string>, readonly leftOut: readonly string[] }}
 */
export function selectSteps(steps, areas, { paths, since }) {
  /** @type {Map<string, string[]>} */
  const causes = new Map(steps.map(({ name }) => [name, []]));
  for (const path of paths ?? []) {
    const area = areaOf(areas, path);
    const cause = area === undefined ? `${path}, which has no row in .ci/steps.js` : path;
    for (const name of area?.[1] ?? causes.keys()) causes.get(name)?.push(cause);
  }
  /** @type {Map<string, string>} */
  const runs = new Map();
  for (const { name, always } of steps) {
    const [first, ...others] = causes.get(name) ?? [];
    if (always) runs.set(name, 'always');
    else if (paths === undefined) runs.set(name, since);
    else if (first !== undefined) runs.set(name, others.length === 0 ? first : `${first} and ${others.length} more`);
  }
  for (const { name, needs } of steps.toReversed())
    if (runs.has(name) && needs !== undefined && !runs.has(needs)) runs.set(needs, `needed by ${name}`);
  return { runs, leftOut: steps.map(({ name }) => name).filter((name) => !runs.has(name)) };
}

/**
 * The first row that a path belongs to. Documents beside the code belong to none of it.
 * @param {readonly (readonly [path: string, steps: readonly string[]])[]} areas
 * @param {string} path
 * @returns {readonly [path: string, steps: readonly string[]] | undefined}
 */
function areaOf(areas, path) {
  if (path.endsWith('.md')) return ['*.md', []];
  return areas.find(([prefix]) => (prefix.endsWith('/') ? path.startsWith(prefix) : path === prefix));
}

/**
 * The jobs of a workflow: `{ name, steps }` with the names of the steps that `.ci/run` gets there.
 * @param {readonly Step[]} steps
 * @param {ReadonlySet<string>} chosen
 * @returns {readonly { readonly name: string, readonly steps: string, readonly minutes: number }[]}
 */
export function jobsOf(steps, chosen) {
  const budgets = new Map(steps.map(({ name, minutes }) => [name, minutes]));
  const needed = new Set(steps.map(({ needs }) => needs));
  const jobs = new Map();
  for (const { name, needs, job = name, minutes } of steps) {
    // A step that another one needs runs on the machine of that one.
    if (!chosen.has(name) || needed.has(name)) continue;
    // Ten minutes for the checkout and the packages.
    const { names = [], sum = 10 } = jobs.get(job) ?? {};
    jobs.set(job, { names: [...names, name], sum: sum + minutes + (budgets.get(needs ?? '') ?? 0) });
  }
  return [...jobs].map(([name, { names, sum }]) => ({ name, steps: names.join(' '), minutes: sum }));
}
