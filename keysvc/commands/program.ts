import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { addCheck } from './check-command.ts';
import { addIdentity } from './identity-commands.ts';
import { addInit } from './init-command.ts';
import { addKey } from './key-commands.ts';
import { addLog, addMetric, addStatus } from './status-commands.ts';
import { addMigrate } from './migrate-command.ts';
import { addPolicy } from './policy-commands.ts';
import { addServer } from './server-command.ts';
import type { Terminal } from './terminal.ts';

const environmentHelp = `
Environment of the commands that call a key server (KES_… is understood as well):
  KEYSVC_SERVER       https://HOST:PORT, several separated by commas; https://127.0.0.1:7373 by default
  KEYSVC_CLIENT_KEY   file of the client's private key
  KEYSVC_CLIENT_CERT  file of the client's certificate
  KEYSVC_KEY_PASSWORD the password of an encrypted private key; the command asks for it where neither this is set
                      nor KEYSVC_KEY_PASSWORD_FILE, a file whose first line it is
  KEYSVC_API_KEY      an API key instead of the two files
  KEYSVC_CAPATH       file or folder of the authorities that the server's certificate is checked against

Exit code: 0 done, 1 failed, 2 used wrongly.

Examples:
  keysvc init ./keysvc                     files for a first test
  keysvc server --config ./keysvc/keysvc.yml --auth=off
  keysvc key create -k my-key`;

/** Makes the command line of the key service. */
export function makeProgram(terminal: Terminal): Command {
  const program = new Command('keysvc')
    .description('The key service: keeps named keys and makes data keys under them')
    .version(`keysvc ${packageJson.version}`, '-v, --version')
    .addHelpText('after', environmentHelp)
    .exitOverride();
  addServer(program);
  addCheck(program, terminal);
  addInit(program, terminal);
  addIdentity(program, terminal);
  addKey(program, terminal);
  addPolicy(program, terminal);
  addStatus(program, terminal);
  addLog(program, terminal);
  addMetric(program, terminal);
  addMigrate(program, terminal);
  return program;
}
