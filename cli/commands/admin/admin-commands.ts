import type { Command } from 'commander';
import { administration } from '../administration.ts';
import { group, type Runner } from '../define.ts';
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
  const admin = group(program, 'admin', administration.admin);
  addServiceCommands(admin, run);
  addUsageCommands(admin, run);
  addUserCommands(admin, run);
  addGroupCommands(admin, run);
  addPolicyCommands(admin, run);
  addAccessKeyCommands(admin, run);
  addIdpCommands(admin, run, 'admin idp');
  addConfigCommands(admin, run);
  addKmsCommands(admin, run);
  addClusterCommands(admin, run);
  addIdpCommands(program, run, 'idp');
}
