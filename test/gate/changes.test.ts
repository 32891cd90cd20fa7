import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/store/temporary-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('.ci/run in a repository', { timeout: 360_000 }, () => {
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
  const run = (...args: readonly string[]) => {
    const { status, stdout } = spawnSync('bash', ['.ci/run', ...args], { cwd: repository, encoding: 'utf8' });
    return { status, lines: stdout.trim().split('\n') };
  };
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

  describe('after a full run', () => {
    beforeAll(() => {
      change(
        '.ci/steps.js',
        `export const steps = [{ name: 'good', lane: 'compute', minutes: 1, command: 'echo the log' }];
         export const areas = [['.ci/', []], ['docs/', []]];
         export const nightly = [];`,
      );
      change('package-lock.json', '{"lockfileVersion":3,"packages":{}}');
      change('docs/gate.md', readFileSync(new URL('../../docs/gate.md', import.meta.url), 'utf8'));
      commit();
    });

    it('keeps its commit, its times and a line for people', () => {
      const { status, lines } = run('--all');
      expect([status, lines.at(-1)]).toEqual([0, '2 passed, 0 failed']);
      expect(lines).toContain('the log');
      const record = JSON.parse(readFileSync(join(repository, '.ci/last-full'), 'utf8')) as object;
      expect(record).toMatchObject({ commit: git('rev-parse', 'HEAD'), steps: { good: { seconds: 0 } } });
      expect(readFileSync(join(repository, 'docs/gate.md'), 'utf8')).toMatch(
        /## Full runs\n\n.*\n\n- .* 2 passed, .* min on .*\n- /,
      );
    });

    it('runs nothing that did not change', () => {
      commit();
      expect(run().lines).toContain('left out: good');
    });

    it('fails when that was more than 150 commits ago', () => {
      const empty = `commit ${git('symbolic-ref', 'HEAD')}\ncommitter test <test@example.com> now\ndata 0\n`;
      const input = `${empty}from ${git('rev-parse', 'HEAD')}\n${empty.repeat(150)}`;
      execFileSync('git', ['fast-import', '--quiet', '--date-format=now'], { cwd: repository, input });
      const { status, lines } = run();
      expect([status, lines.at(-1)]).toEqual([1, '1 passed, 1 failed']);
      expect(lines.join('\n')).toMatch(/the last full run is 15\d commits old/);
    });

    it('passes after so many commits when the changes select every step', () => {
      change('unknown/file', 'new');
      commit();
      const { status, lines } = run();
      expect([status, lines.at(-1)]).toEqual([0, '2 passed, 0 failed']);
    });
  });
});
