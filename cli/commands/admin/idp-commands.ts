import { administration } from '../administration.ts';
import type { CommandGroup } from '../command-group.ts';
import type { IdpType, SaveIdpOptions } from './idp-configs.ts';
import { addLdapCommands } from './ldap-commands.ts';
import { addOpenIdCommands } from './openid-commands.ts';

/** Below 'admin', as the specification has them, and at the top, as stock clients do. */
export function addIdpCommands(parent: CommandGroup): void {
  const idp = parent.group('idp', administration.idp);
  const openid = idp.group('openid', 'OpenID providers, and rights of their people');
  addConfigurations(openid, 'openid');
  addOpenIdCommands(openid);
  const ldap = idp.group('ldap', 'the directory, and rights of its people');
  addConfigurations(ldap, 'ldap');
  addLdapCommands(ldap);
}

const settingsOf: Readonly<Record<IdpType, string>> = {
  openid:
    'config_url=https://idp.example.com/realms/main/.well-known/openid-configuration client_id=coffer client_secret=-',
  ldap: 'server_addr=ldap.example.org:636 lookup_bind_dn=cn=reader,dc=example,dc=org lookup_bind_password=-',
};

function addConfigurations(group: CommandGroup, type: IdpType): void {
  const configurations = group.from(() => import('./idp-configs.ts'));
  // There is one directory, which has no name.
  const [name, example] = type === 'openid' ? [' [name]', ' PRIMARY_IAM'] : ['', ''];
  const what = type === 'openid' ? 'provider' : 'directory';
  for (const [mode, description] of [
    ['add', `configure a ${what}; the value - is asked for without echo`],
    ['update', `change settings of a ${what}; those left out stay, empty ones go`],
  ] as const) {
    const values = mode === 'add' ? settingsOf[type] : type === 'openid' ? 'vendor=keycloak' : 'server_starttls=on';
    configurations.add(
      type === 'openid' ? `${mode} <alias> <nameOrSetting> [settings...]` : `${mode} <alias> <settings...>`,
      {
        description,
        ...(type === 'openid' && {
          options: [['--force', 'save what the provider refuses, or while it cannot be asked']] as const,
        }),
        examples: [
          `mine${example} ${values}`,
          { of: `admin config get mine identity_${type}`, remark: 'shows what is set' },
          { of: `admin config set mine identity_${type}`, remark: 'shows what can be set' },
        ],
        doing: `${mode} the ${what} at`,
        subject: 0,
        run:
          ({ saveIdp }) =>
          (context, args, options: SaveIdpOptions) =>
            saveIdp(context, args, type, { mode, ...options }),
      },
    );
  }
  configurations.add('list <alias>', {
    alias: 'ls',
    description: 'show what is configured',
    examples: ['mine'],
    doing: `list the ${type} configurations of`,
    run:
      ({ listIdps }) =>
      (context, args) =>
        listIdps(context, args, type),
  });
  configurations.add(`info <alias>${name}`, {
    description: 'show the settings of a configuration, without secrets',
    examples: [`mine${example}`],
    doing: 'show the configuration',
    run:
      ({ showIdp }) =>
      (context, args) =>
        showIdp(context, args, type),
  });
  configurations.add(`remove <alias>${name}`, {
    alias: 'rm',
    description: 'remove a configuration',
    examples: [`mine${example}`],
    doing: 'remove the configuration',
    run:
      ({ removeIdp }) =>
      (context, args) =>
        removeIdp(context, args, type),
  });
  configurations.addSwitch({
    args: `<alias>${name}`,
    example: `mine${example}`,
    what: 'the configuration',
    verbs: { enable: 'switch a configuration on', disable: 'switch a configuration off' },
    run:
      ({ switchIdp }, verb) =>
      (context, args) =>
        switchIdp(context, args, type, verb === 'enable' ? 'on' : 'off'),
  });
}
