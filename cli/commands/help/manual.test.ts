import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { commandsOf } from '../command-group.ts';
import { manualPages } from './manual.ts';
import { topics } from './topics.ts';

const program = new Command('coffer').description('client').option('-q, --quiet', 'say nothing');
const commands = commandsOf(program, () => Promise.resolve());
commands.add('cp <sources...>', {
  description: String.raw`copies "things" by C:\path`,
  options: [['-r, --recursive', '.everything']],
  examples: ['a b'],
  doing: 'copy',
  run: () => () => Promise.resolve(),
});
commands
  .group('admin', 'administer')
  .group('user', 'users')
  .add('list <alias>', {
    description: 'lists',
    examples: ['mine'],
    doing: 'list',
    run: () => () => Promise.resolve(),
  });
const pages = manualPages(program, '1.2.3');

describe('the manual', () => {
  it('has a page for the program, for administrators, and for the topics', () => {
    expect([...pages.keys()]).toEqual(['coffer.1', 'coffer-admin.1', 'coffer-topics.7']);
    expect(pages.get('coffer-admin.1')).toContain(String.raw`.SS "coffer admin user list ALIAS"`);
  });

  it('has arguments, options and examples of a command', () => {
    const page = pages.get('coffer.1') ?? '';
    expect(page).toContain('.SS "coffer cp SOURCES..."');
    expect(page).toContain(String.raw`.B "\-r, \-\-recursive"`);
    expect(page).toContain('coffer cp a b');
  });

  it('escapes what roff would read as a request', () => {
    const page = pages.get('coffer.1') ?? '';
    expect(page).toContain(String.raw`copies \(dqthings\(dq by C:\epath`);
    expect(page).toContain(String.raw`\&.everything`);
  });

  it('has every topic, in lines that fit a terminal', () => {
    for (const [name, { text }] of Object.entries(topics)) {
      expect(pages.get('coffer-topics.7')).toContain(name.toUpperCase());
      expect(text.split('\n').filter((line) => line.length > 84)).toEqual([]);
    }
  });
});
