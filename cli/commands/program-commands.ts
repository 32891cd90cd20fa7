import type { CommandGroup } from './command-group.ts';

/** The commands about the client itself. */
export function addProgramCommands(commands: CommandGroup): void {
  commands
    .from(() => import('./update/update.ts'))
    .add('update [url]', {
      description: 'replace this client by the newest release at COFFER_UPDATE_URL, after its signature was checked',
      examples: ['', 'https://releases.example.com/coffer'],
      doing: 'update',
      run: (module) => module.update,
    });
}
