import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { commandsOf } from './command-group.ts';
import { addDataCommands } from './data/data-commands.ts';
import { addAdminCommands } from './admin/admin-commands.ts';

function leaves(command: Command, path: string): (readonly [path: string, command: Command])[] {
  if (command.commands.length === 0) return [[path, command]];
  return command.commands.flatMap((inner) => leaves(inner, `${path} ${inner.name()}`));
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

const program = new Command('coffer');
const commands = commandsOf(program, () => Promise.resolve());
addDataCommands(commands);
addAdminCommands(commands);
/** Old names have no example. */
const present = leaves(program, 'coffer').filter(
  ([, command]) =>
    !command.description().startsWith('refused: ') && !command.description().startsWith('older name of '),
);

describe('each command', () => {
  it.each(present)('%s has an example of itself, and says what it is for', (path, command) => {
    const [, examples = ''] = helpOf(command).split('Examples:\n');
    expect(examples).toContain(`  ${path}`);
    expect(command.description()).toMatch(/^[a-z]/);
  });
});
