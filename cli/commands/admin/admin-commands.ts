import type { Command } from 'commander';
import { administration } from '../administration.ts';
import { commandsOf } from '../command-group.ts';
import type { Runner } from '../define.ts';
import { addAccessKeyCommands } from './access-key-commands.ts';
import { addClusterCommands } from './cluster-commands.ts';
import { addConfigCommands } from './config-commands.ts';
import { addGroupCommands } from './group-commands.ts';
import { addIdpCommands } from './idp-commands.ts';
import { addKmsCommands } from './kms-commands.ts';
import { addPolicyCommands } from './policy-commands.ts';
import { addServiceCommands } from './service-commands.ts';
import { addUsageCommands } from './usage-commands.ts';
import { addUserCommands } from './user-commands.ts';

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
