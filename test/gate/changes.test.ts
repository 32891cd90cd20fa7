import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../server/store/temporary-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('.ci/run --plan in a repository', { timeout: 60_000 }, () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let repository: string;

  const git = (...args: readonly string[]) => {
    const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
    return execFileSync('git', [...author, ...args], { cwd: repository, encoding: 'utf8', stdio: 'pipe' }).trim();
  };
  const change = (path: string, text: string) => {
    mkdirSync(join(repository, dirname(path)), { recursive: true });
    writeFileSync(join(repository, path), text);
  };
  const commit = () => {
    git('add', '--all');
    git('commit', '--quiet', '--message', 'change');
    return git('rev-parse', 'HEAD');
  };
  const plan = (cwd = repository) => execFileSync('bash', ['.ci/run', '--plan'], { cwd, encoding: 'utf8' });
  const fullRunOf = (hash: string) => change('.ci/last-full', JSON.stringify({ commit: hash }));

  beforeAll(async () => {
    folder = await temporaryFolder();
    repository = join(folder.path, 'repository');
    mkdirSync(join(repository, '.ci'), { recursive: true });
    for (const name of ['run', 'gate.js', 'lanes.js', 'selection.js', 'steps.js'])
      cpSync(join(root, '.ci', name), join(repository, '.ci', name));
    change('package.json', '{"type":"module"}');
    git('init', '--quiet');
    commit();
  });
  afterAll(() => folder.remove());

  it('has every step while no full run is recorded', () => {
    expect(plan()).toMatch(/ldap +no full run is recorded/);
  });

  it('has what was committed since the full run', () => {
    fullRunOf(git('rev-parse', 'HEAD'));
    change('test/ldap/walk.test.ts', '');
    commit();
    expect(plan()).toMatch(
      /the full run of [0-9a-f]{7}, 1 commits ago[^]*ldap +test\/ldap\/walk.test.ts\nleft out: .*cluster/,
    );
  });

  it('has what is changed and not yet committed, new files too', () => {
    fullRunOf(git('rev-parse', 'HEAD'));
    change('docs/page.md', 'text');
    expect(plan()).toMatch(/left out: .*ldap/);
    change('test/disk/new.test.ts', '');
    expect(plan()).toMatch(/disk +test\/disk\/new.test.ts/);
  });

  it('has every step in a clone without the commit of the full run', () => {
    fullRunOf(git('rev-parse', 'HEAD'));
    commit();
    change('docs/page.md', 'other');
    commit();
    git('clone', '--quiet', '--depth=1', `file://${repository}`, join(folder.path, 'shallow'));
    expect(plan(join(folder.path, 'shallow'))).toMatch(/ldap +the last full run, of [0-9a-f]{7}, is no ancestor/);
  });

  it('has every step where the full run was of another branch', () => {
    git('checkout', '--quiet', '-b', 'other');
    change('README.md', 'text');
    const elsewhere = commit();
    git('checkout', '--quiet', '-');
    fullRunOf(elsewhere);
    expect(plan()).toMatch(/ldap +the last full run, of [0-9a-f]{7}, is no ancestor/);
  });
});
