import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { eachKind } from '../../operator/api/kinds.ts';

// Another kind of a cluster may have the name of one of ours, and the namespace of a resource need not be that of the user: a command that a page or
// a message advises names the group, and one of a message names the namespace too. Pages say that their commands act on the namespace of the user.

const root = fileURLToPath(new URL('../..', import.meta.url));
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })
  .trim()
  .split('\n');
const notes = tracked.filter((path) => /^charts\/.*NOTES\.txt$/.test(path));
/** The sources of all messages; those of a page are read there. */
const messages = tracked.filter(
  (path) =>
    /^(?:operator|platform|protocol|server|keysvc|cli)\/.*(?<!\.test)\.ts$/.test(path) &&
    !path.endsWith('resource-guide.ts'),
);
const pages = tracked.filter((path) =>
  /^(?:README|docs\/guides\/[\w-]+|(?:examples|deploy)\/.*README)\.md$/.test(path),
);

const names = new Set(eachKind(({ kind, plural, shortNames }) => [kind.toLowerCase(), plural, ...shortNames]).flat());

interface Command {
  readonly path: string;
  readonly text: string;
}

/** Returns the commands of a file, each to the end of its line or quotation. Those of the plugin find their kinds themselves. */
function commandsOf(path: string): readonly Command[] {
  const lines = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').split('\n');
  return lines
    .filter((line) => path.endsWith('.md') || !/^\s*(?:\/?\*|\/\/)/.test(line))
    .flatMap((line) => [
      ...line.matchAll(path.endsWith('.md') ? /kubectl (?!coffer)[^`|]*/g : /kubectl (?!coffer\b).*/g),
    ])
    .map(([text]) => ({ path, text }));
}

const commands = (paths: readonly string[]) => paths.flatMap(commandsOf);

/** Names of our kinds without their group: `tenant/demo`, `buckets,users`. */
function bareKinds({ text }: Command): readonly string[] {
  return text.split(/\s+/).filter((word) =>
    word
      .replace(/\/.*/, '')
      .split(',')
      .some((part) => names.has(part)),
  );
}

const isOfNamespace = ({ text }: Command) => !/^kubectl (?:config|get crd|apply --server-side -f crds)/.test(text);
const isNamed = ({ text }: Command) => /(?:-n|--namespace) |namespaceFlag\(|kubectlArgument\(/.test(text);

describe('commands of kubectl that are advised', () => {
  it.each([
    ['the notes of charts', notes],
    ['messages', messages],
    ['pages', pages],
  ])('name the group of our kinds: in %s', (_title, paths) => {
    const found = commands(paths);
    expect(found.length).toBeGreaterThan(2);
    expect(found.filter((command) => bareKinds(command).length > 0)).toEqual([]);
  });

  it('name the namespace in messages and in the notes of charts', () => {
    const found = commands([...messages, ...notes]).filter((command) => isOfNamespace(command));
    expect(found.filter((command) => !isNamed(command))).toEqual([]);
  });
});
