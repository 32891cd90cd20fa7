import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addAdminCommands } from './admin-commands.ts';

function leaves(command: Command, path: string): (readonly [path: string, command: Command])[] {
  if (command.commands.length === 0) return [[path, command]];
  return command.commands.flatMap((inner) => leaves(inner, `${path} ${inner.name()}`));
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (piece) => (text += piece) }).outputHelp();
  return text;
}

const program = new Command('coffer');
addAdminCommands(program, () => Promise.resolve());

describe('each command for administrators', () => {
  it.each(leaves(program, 'coffer'))('%s has an example of itself, and says what it is for', (path, command) => {
    const [, examples = ''] = helpOf(command).split('Examples:\n');
    expect(examples).toContain(`  ${path} mine`);
    expect(command.description()).toMatch(/^[a-z]/);
  });
});
