import type { Command } from 'commander';
import { administration, commandsOf, type Runner } from '../command-group.ts';
import { addAccessKeyCommands } from '../identities/access-key-commands.ts';
import { addClusterCommands, addServiceCommands, addUsageCommands } from './service-commands.ts';
import { addConfigCommands } from './config-commands.ts';
import { addGroupCommands, addUserCommands } from '../identities/user-commands.ts';
import { addIdpCommands } from '../identities/idp-commands.ts';
import { addKmsCommands } from './kms-commands.ts';
import { addPolicyCommands } from '../identities/policy-commands.ts';

/** `admin …` and `idp …`: what administrators do with servers of Coffer and MinIO. */
export function addAdminCommands(program: Command, run: Runner): void {
  const commands = commandsOf(program, run);
  const admin = commands.group('admin', administration.admin);
  addServiceCommands(admin);
  addUsageCommands(admin);
  addUserCommands(admin);
  addGroupCommands(admin);
  addPolicyCommands(admin);
  addAccessKeyCommands(admin);
  addIdpCommands(admin);
  addConfigCommands(admin);
  addKmsCommands(admin);
  addClusterCommands(admin);
  addIdpCommands(commands);
}
