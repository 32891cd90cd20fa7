import { laterGroups, type CommandGroup } from '../command-group.ts';
import { addAccessKeyCommands } from '../identities/access-key-commands.ts';
import { addClusterCommands, addServiceCommands, addUsageCommands } from './service-commands.ts';
import { addStateCommands } from './cluster-state-commands.ts';
import { addConfigCommands } from './config-commands.ts';
import { addHeldEventCommands } from './event-commands.ts';
import { addGroupCommands, addUserCommands } from '../identities/user-commands.ts';
import { addIdpCommands } from '../identities/idp-commands.ts';
import { addKmsCommands } from './kms-commands.ts';
import { addPolicyCommands } from '../identities/policy-commands.ts';

/** The commands below `admin` and `idp`, for administrators of Coffer and MinIO. */
export function addAdminCommands(commands: CommandGroup): void {
  const admin = commands.group('admin', laterGroups.admin);
  addServiceCommands(admin);
  addUsageCommands(admin);
  addUserCommands(admin);
  addGroupCommands(admin);
  addPolicyCommands(admin);
  addAccessKeyCommands(admin);
  addIdpCommands(admin);
  addConfigCommands(admin);
  addKmsCommands(admin);
  addHeldEventCommands(admin);
  addClusterCommands(admin);
  addStateCommands(admin);
}
