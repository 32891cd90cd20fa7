import { laterGroups, type CommandGroup } from '../command-group.ts';
import { addKeyCommands, listOptions } from './access-key-commands.ts';
import type { ClaimOptions } from './policy-attachments.ts';
import type { IdpType, SaveIdpOptions } from './idp-configs.ts';
import { addLdapCommands } from './ldap-commands.ts';

/** Adds the commands that only OpenID providers have. */
function addOpenIdCommands(openid: CommandGroup): void {
  addTest(openid);
  addKeycloakSetup(openid);
  addClaimPolicies(openid);
  addOpenIdKeys(openid);
}

function addTest(openid: CommandGroup): void {
  openid
    .from(() => import('./sign-in-test.ts'))
    .add('test <alias> [name]', {
      description:
        'walk the whole way of a sign-in, and say where it breaks: discovery, keys, client, token, claim, policies',
      options: [
        ['--token-file <file>', 'a token of the provider; `-` reads standard input'],
        ['--user <name>', 'get a token by name and password, which is asked for'],
        ['--device', 'get a token by a code that you enter in a browser'],
      ],
      examples: [
        ['mine PRIMARY_IAM', 'the steps before the login'],
        'mine PRIMARY_IAM --device',
        ['mine PRIMARY_IAM --user ann', 'asks for her password'],
        'mine PRIMARY_IAM --token-file token.jwt',
      ],
      doing: 'test the provider',
      run: (module) => module.testOpenId,
    });
  openid
    .from(() => import('./revocation.ts'))
    .add('check <alias> [user]', {
      description: 'ask the providers now whether users still exist; a user that is gone loses access at once',
      examples: [['mine', 'all users with credentials'], 'mine ann'],
      doing: 'check the users of',
      run: (module) => module.checkUsers,
    });
}

function addKeycloakSetup(openid: CommandGroup): void {
  openid
    .from(() => import('./keycloak-setup.ts'))
    .add('keycloak-setup <alias> [name]', {
      description: 'make the client, the scopes and the mapper in a realm of Keycloak, and configure the provider',
      options: [
        ['--url <address>', 'Keycloak, such as https://idp.example.com'],
        ['--realm <realm>', 'the realm of the people'],
        ['--admin <user>', 'an administrator of Keycloak, whose password is asked for'],
        ['--admin-realm <realm>', 'the realm of the administrator (master)'],
        ['--client <id>', 'the client to make (coffer)'],
        ['--console <address>', 'the console, such as https://console.example.com'],
      ],
      examples: [
        'mine COMPANY --url https://idp.example.com --realm company --admin admin --console https://console.example.com',
      ],
      doing: 'set up Keycloak for',
      run: (module) => module.setUpKeycloak,
    });
}

function addClaimPolicies(openid: CommandGroup): void {
  const policy = openid
    .group('policy', 'policies of all users whose token has a claim')
    .from(() => import('./policy-attachments.ts'));
  for (const change of ['attach', 'detach'] as const) {
    policy.add(`${change} <alias> <policies...>`, {
      description: change === 'attach' ? 'give policies to a claim' : 'take policies from a claim',
      options: [
        ['--provider <name>', 'the configuration; the one without a name where it is left out'],
        ['--claim <name>', 'the claim, or a path with / into claims'],
        ['--value <value>', 'its value; * and ? stand for any characters'],
      ],
      examples: ["mine readonly --provider CLUSTER --claim sub --value 'system:serviceaccount:apps:*'"],
      doing: `${change} the policy`,
      run:
        ({ changeClaimPolicies }) =>
        (context, args, options: ClaimOptions) =>
          changeClaimPolicies(context, args, options, change),
    });
  }
  policy.add('list <alias>', {
    alias: 'ls',
    description: 'show which claims have which policies',
    examples: ['mine'],
    doing: 'list the policies of claims at',
    run: (module) => module.listClaimPolicies,
  });
}

function addOpenIdKeys(openid: CommandGroup): void {
  const keys = openid.group('accesskey', 'access keys of OpenID users');
  keys
    .from(() => import('./access-key-list.ts'))
    .add('list <alias> [users...]', {
      alias: 'ls',
      description: 'show access keys and temporary credentials of users; without any those of all',
      options: listOptions,
      examples: ['mine ann'],
      doing: 'list the access keys of',
      run: (module) => module.listOpenIdKeys,
    });
  addKeyCommands(keys, 'openid');
}

/** Adds `idp`, which the specification has below `admin` and stock clients have at the top. */
export function addIdpCommands(parent: CommandGroup): void {
  const idp = parent.group('idp', laterGroups.idp);
  const openid = idp.group('openid', 'OpenID providers, and the permissions of their users');
  addConfigurations(openid, 'openid');
  addOpenIdCommands(openid);
  const ldap = idp.group('ldap', 'the LDAP directory, and the permissions of its users');
  addConfigurations(ldap, 'ldap');
  addLdapCommands(ldap);
}

const settingsOf: Readonly<Record<IdpType, string>> = {
  openid:
    'config_url=https://idp.example.com/realms/main/.well-known/openid-configuration client_id=coffer client_secret=-',
  ldap: 'server_addr=ldap.example.org:636 lookup_bind_dn=cn=reader,dc=example,dc=org lookup_bind_password=-',
};

const recipeOption = [
  '--provider <name>',
  'fill in what is particular of keycloak, entra, okta, google, gitlab, authelia, authentik, zitadel or github-actions',
] as const;

function addConfigurations(group: CommandGroup, type: IdpType): void {
  const configurations = group.from(() => import('./idp-configs.ts'));
  // There is one LDAP configuration, which has no name.
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
          options: [
            ['--force', 'save what the provider refuses, or while it cannot be asked'] as const,
            ...(mode === 'add' ? [recipeOption] : []),
          ],
        }),
        examples: [
          `mine${example} ${values}`,
          ...(type === 'openid' && mode === 'add'
            ? [
                'mine COMPANY --provider keycloak url=https://idp.example.com realm=company client_id=coffer client_secret=-',
                ['mine JOBS --provider github-actions client_id=coffer', 'tokens of CI jobs'] as const,
              ]
            : []),
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
