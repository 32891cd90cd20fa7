import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { jobsOf, selectSteps } from '../../.ci/selection.js';
import { areas, nightly, steps } from '../../.ci/steps.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const always = steps.filter((step) => step.always).map(({ name }) => name);
const everything = steps.map(({ name }) => name);

/** The steps that run for changed paths, without those that always run. */
function chosen(...paths: readonly string[]): readonly string[] {
  const { runs } = selectSteps(steps, areas, { paths, since: '' });
  return [...runs.keys()].filter((name) => !always.includes(name));
}
const budget = (name: string) => steps.find((step) => step.name === name)?.minutes ?? 0;
const reasonsOf = (path: string) => [...selectSteps(steps, areas, { paths: [path], since: '' }).runs.values()];
const heavy = everything.filter((name) => !always.includes(name));

describe('the steps that a change selects', () => {
  it.each([
    'protocol/s3/names.ts',
    'platform/output/logger.ts',
    'package-lock.json',
    '.ci/steps.js',
    'vitest.config.ts',
  ])('are all of them for %s', (path) => {
    expect(chosen(path)).toEqual(heavy);
  });

  it.each(['README.md', 'docs/guides/s3.md', 'docs/images/console.png', 'test/cluster/README.md', '.ci/last-full'])(
    'are no heavy ones for %s',
    (path) => {
      expect(chosen(path)).toEqual([]);
    },
  );

  it('are all of them for a path without a row, and the reason names it', () => {
    const { runs } = selectSteps(steps, areas, { paths: ['README.md', 'new-folder/file.ts'], since: '' });
    expect([...runs.keys()].toSorted()).toEqual(everything.toSorted());
    expect(runs.get('ldap')).toContain('new-folder/file.ts, which has no row');
  });

  it('are all of them when it is not known what changed', () => {
    const { runs } = selectSteps(steps, areas, { paths: undefined, since: 'a shallow clone' });
    expect([...runs.keys()].toSorted()).toEqual(everything.toSorted());
    expect(runs.get('ldap')).toBe('a shallow clone');
  });

  it('are those of every changed path together', () => {
    expect(chosen('test/ldap/walk.test.ts', 'test/fleet/fleet.test.ts')).toEqual(['ldap', 'fleet']);
  });

  it('bring the step along that they need', () => {
    const { runs } = selectSteps(steps, areas, { paths: ['test/keycloak/realm.json'], since: '' });
    expect(runs.get('image')).toBe('needed by cluster');
  });

  it('are told with the first path and the count of the others', () => {
    const paths = ['test/ldap/a.ts', 'test/ldap/b.ts', 'test/ldap/c.ts'];
    expect(selectSteps(steps, areas, { paths, since: '' }).runs.get('ldap')).toBe('test/ldap/a.ts and 2 more');
  });
});

/** An import, or a file that is named by `new URL`, as programs are that a test starts. */
const named = /(?:\bfrom\s*|\bimport\s*\(?\s*|\bnew URL\(\s*)['"](\.{1,2}\/[^'"]+)['"]/g;

const references = new Map<string, readonly string[]>();

function referencesOf(path: string): readonly string[] {
  const known = references.get(path);
  if (known !== undefined) return known;
  const specifiers = path.endsWith('.ts') ? [...readFileSync(join(root, path), 'utf8').matchAll(named)] : [];
  const targets = specifiers
    .map(([, specifier = '']) => normalize(join(dirname(path), specifier)))
    .filter((target) => /\.\w+$/.test(target) && existsSync(join(root, target)));
  references.set(path, targets);
  return targets;
}

/** The files that a tier's tests import or name by `new URL`, and what those import in turn. */
function loadedBy(folder: string): readonly string[] {
  const files = execFileSync('git', ['ls-files', folder], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const loaded = new Set(files);
  for (const path of loaded) for (const target of referencesOf(path)) loaded.add(target);
  return [...loaded];
}

const foldersOfSteps: Readonly<Record<string, readonly string[]>> = {
  kills: ['test/crash'],
  postgres: ['test/postgres', 'test/replicas'],
};

describe('the table', () => {
  const tiers = steps.filter((step) => step.tests && !step.always).map(({ name }) => name);

  it.each(tiers)('lets every file that the tests of %s load select it', { timeout: 180_000 }, (name) => {
    const missed = (foldersOfSteps[name] ?? [`test/${name}`])
      .flatMap(loadedBy)
      .filter((path) => !path.endsWith('.md') && !/^(?:node_modules|dist|docs)\//.test(path))
      .filter((path) => !chosen(path).includes(name));
    expect(missed).toEqual([]);
  });

  it('has no row for a path that is not there', () => {
    const later = ['.ci/last-full', '.editorconfig', '.devcontainer/'];
    expect(
      areas.map(([path]) => path).filter((path) => !later.includes(path) && !existsSync(join(root, path))),
    ).toEqual([]);
  });

  it('has a row for every file of the repository', () => {
    const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
    expect(files.filter((path) => reasonsOf(path).some((reason) => reason.includes('no row')))).toEqual([]);
  });

  it('names only steps that there are, each once, and each after the one that it needs', () => {
    expect(new Set(everything).size).toBe(everything.length);
    expect(areas.flatMap(([, names]) => names).filter((name) => !everything.includes(name))).toEqual([]);
    for (const { name, needs, lane } of steps) {
      if (needs === undefined) continue;
      const needed = steps.find((step) => step.name === needs);
      expect(needed?.lane).toBe(lane);
      expect(everything.indexOf(needs)).toBeLessThan(everything.indexOf(name));
    }
  });
});

describe('the jobs of the workflows', () => {
  it('run every step once, on a machine with the step that it needs', () => {
    const jobs = jobsOf(steps, new Set(everything));
    const needed = new Set(steps.map(({ needs }) => needs));
    expect(jobs.flatMap(({ steps: names }) => names.split(' ')).toSorted()).toEqual(
      everything.filter((name) => !needed.has(name)).toSorted(),
    );
  });

  it('have time for the budgets of their steps', () => {
    const cluster = jobsOf(steps, new Set(everything)).find(({ name }) => name === 'cluster');
    expect(cluster?.minutes).toBe(10 + budget('image') + budget('cluster'));
  });

  it('run every part of the night', () => {
    expect(jobsOf(nightly, new Set(nightly.map(({ name }) => name))).map(({ name }) => name)).toEqual(
      nightly.map(({ name }) => name),
    );
  });

  it('have every long form in the night but the one of two hours', () => {
    const parts = [...readFileSync(join(root, '.ci/soak'), 'utf8').matchAll(/^ {2}([a-z-]+)\)$/gm)].map(
      ([, name]) => name,
    );
    expect(new Set(nightly.map(({ name }) => name))).toEqual(new Set(parts.filter((name) => name !== 'day')));
  });
});

describe('the workflows', () => {
  const folder = join(root, '.github/workflows');
  const workflows = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);

  it.each(workflows)('%s pins every action to a commit', (_name, text) => {
    const actions = [...text.matchAll(/uses: (\S+)(.*)/g)].filter(([, action = '']) => !action.startsWith('./'));
    expect(actions.filter(([line]) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  it.each(workflows)('%s may only read, unless a job says more', (_name, text) => {
    expect((parse(text) as { permissions: unknown }).permissions).toEqual({ contents: 'read' });
  });
});
